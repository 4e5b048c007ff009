package actors

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// key names a cell: a lock name and the kind of lock it is used as.
type key struct {
	name string
	kind *Kind
}

// table finds the actor of a name. The names belong to this table and not to
// protoactor's registry: look-up, activation and send happen under one shard
// lock, and what was sent is counted, so that no message is lost to an actor
// that retires at the same moment (actors-wheel.md section 4, pattern C: 0 lost
// of 64 000 where the registry pattern lost 228).
type table struct {
	seed   maphash.Seed
	shards [256]shard
	pool   *activations
	make   func(k key, sh *shard, blank *cell) *cell

	n      atomic.Int64 // cells that exist
	closed atomic.Bool
	empty  chan struct{} // closed when the table is closed and the last cell went
	once   sync.Once
}

type shard struct {
	mu     sync.Mutex
	cells  map[key]*cell
	closed bool
	_      [40]byte // neighbours do not share a cache line
}

func newTable(pool *activations, make_ func(key, *shard, *cell) *cell) *table {
	t := &table{seed: maphash.MakeSeed(), pool: pool, make: make_, empty: make(chan struct{})}
	pool.table = t
	for i := range t.shards {
		t.shards[i].cells = map[key]*cell{}
	}
	return t
}

func (t *table) shard(k key) *shard {
	return &t.shards[maphash.String(t.seed, k.name)%uint64(len(t.shards))]
}

// post delivers m to the actor of k, then lets it run on this goroutine unless
// another is running it already. A name without a cell gets one if m is a new
// call; other messages have nothing to say to it. It reports whether m was
// delivered; it never blocks on anything but the short shard lock.
func (t *table) post(k key, m *message) bool {
	sh := t.shard(k)
	sh.mu.Lock()
	c := sh.cells[k]
	if c == nil {
		if sh.closed || m.kind != evCall && m.kind != evInspect {
			sh.mu.Unlock()
			return false
		}
		a := t.pool.get()
		c = t.make(k, sh, a.blank)
		a.blank = nil
		a.bind(c)
		sh.cells[k] = c
		t.n.Add(1)
	}
	t.deliver(c, m)
	return true
}

// postTo delivers to an actor that cannot retire meanwhile: its command is in
// flight, or it is just handling a message.
func (t *table) postTo(a *activation, m *message) {
	c := a.cell
	c.shard.mu.Lock()
	t.deliver(c, m)
}

// deliver is entered with the shard lock held and leaves it.
func (t *table) deliver(c *cell, m *message) {
	a := c.act
	if a == nil {
		a = t.pool.get()
		a.bind(c)
	}
	a.sent++
	a.PostUserMessage(m) // what Send does once it has found the mailbox
	run := a.due
	a.due = false
	c.shard.mu.Unlock()
	if run {
		a.drain()
	}
}

// close refuses new names and tells every cell.
func (t *table) close() {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		sh.closed = true
		sh.mu.Unlock()
	}
	t.closed.Store(true) // no shard takes a new name: the count can only fall
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		keys := slices.Collect(maps.Keys(sh.cells))
		sh.mu.Unlock()
		for _, k := range keys {
			t.post(k, &message{kind: evClose})
		}
	}
	if t.n.Load() == 0 {
		t.once.Do(func() { close(t.empty) })
	}
}

// forgotten counts a cell out.
func (t *table) forgotten() {
	if t.n.Add(-1) == 0 && t.closed.Load() {
		t.once.Do(func() { close(t.empty) })
	}
}
