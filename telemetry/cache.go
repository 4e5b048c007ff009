package telemetry

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// cache is a map that is read without a lock and without an allocation and that
// stops growing at its limit. A writer copies the whole map: there are few keys
// and each is written once. sync.Map would put every key into an interface, which
// is one allocation for each look-up.
type cache[K comparable, V any] struct {
	limit int
	build func(K) V

	mu sync.Mutex // serialises writers
	m  atomic.Pointer[map[K]V]
}

func newCache[K comparable, V any](limit int, build func(K) V) *cache[K, V] {
	c := &cache[K, V]{limit: limit, build: build}
	c.m.Store(&map[K]V{})
	return c
}

// get returns the value of k. Past the limit it builds one for each call: slower,
// but a stream of odd keys cannot fill the memory.
func (c *cache[K, V]) get(k K) V {
	if v, ok := (*c.m.Load())[k]; ok {
		return v
	}
	return c.add(k)
}

func (c *cache[K, V]) add(k K) V {
	v := c.build(k)
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.m.Load()
	if have, ok := old[k]; ok {
		return have
	}
	if len(old) >= c.limit {
		return v
	}
	next := make(map[K]V, len(old)+1)
	for k, v := range old {
		next[k] = v
	}
	next[k] = v
	c.m.Store(&next)
	return v
}

// maxSets bounds the attribute sets that are kept for each instrument. It is
// above what the closed sets of the catalogue can produce; only error.type is
// open.
const maxSets = 512

// recordSets and addSets keep the ready-made option slice of each combination of
// attribute values. The slice is kept, and not only the option, because a
// variadic call through an interface allocates one.
type (
	recordSets[K comparable] = cache[K, []metric.RecordOption]
	addSets[K comparable]    = cache[K, []metric.AddOption]
)

func newRecordSets[K comparable](attrs func(K) []attribute.KeyValue) *recordSets[K] {
	return newCache(maxSets, func(k K) []metric.RecordOption {
		return []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attrs(k)...))}
	})
}

func newAddSets[K comparable](attrs func(K) []attribute.KeyValue) *addSets[K] {
	return newCache(maxSets, func(k K) []metric.AddOption {
		return []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(attrs(k)...))}
	})
}
