package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// A histogram's buckets are linear up to 2^subBits, and from there on every power
// of two has 2^subBits buckets of the same width: a value is known to 1 %.
const (
	subBits = 7
	sub     = 1 << subBits
	buckets = (64 - subBits) * sub
)

// Histogram counts durations in nanoseconds. Add is safe for concurrent use; the
// other methods want to be alone.
//
// As JSON it is {"count":n,"sum":ns,"min":ns,"max":ns,"buckets":[[index,count],...]}.
// The index of v is v itself below 128; above, with e = floor(log2 v) - 7, it is
// (e << 7) + (v >> e).
type Histogram struct {
	counts   [buckets]atomic.Int64
	count    atomic.Int64
	sum      atomic.Int64
	min, max atomic.Int64 // min is stored as v+1, so that 0 means none
}

// index returns the bucket of v, which is not negative.
func index(v int64) int {
	if v < sub {
		return int(v)
	}
	e := bits.Len64(uint64(v)) - 1 - subBits
	return e<<subBits + int(v>>e)
}

// middle returns the value in the middle of a bucket.
func middle(i int) int64 {
	if i < 2*sub {
		return int64(i)
	}
	e := i>>subBits - 1
	low := int64(i-e<<subBits) << e
	return low + 1<<e/2
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	v := max(int64(d), 0)
	h.counts[index(v)].Add(1)
	h.count.Add(1)
	h.sum.Add(v)
	h.extremes(v, v)
}

func (h *Histogram) extremes(low, high int64) {
	for old := h.min.Load(); old == 0 || low+1 < old; old = h.min.Load() {
		if h.min.CompareAndSwap(old, low+1) {
			break
		}
	}
	for old := h.max.Load(); high > old; old = h.max.Load() {
		if h.max.CompareAndSwap(old, high) {
			break
		}
	}
}

// Merge adds everything that o counted; nil is nothing.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil || o.Count() == 0 {
		return
	}
	for i := range o.counts {
		if n := o.counts[i].Load(); n > 0 {
			h.counts[i].Add(n)
		}
	}
	h.count.Add(o.count.Load())
	h.sum.Add(o.sum.Load())
	h.extremes(o.min.Load()-1, o.max.Load())
}

// Count returns how many durations there are.
func (h *Histogram) Count() int64 { return h.count.Load() }

// Mean returns the exact mean, NaN if there is nothing.
func (h *Histogram) Mean() float64 {
	return float64(h.sum.Load()) / float64(h.count.Load())
}

// Max returns the exact maximum.
func (h *Histogram) Max() time.Duration { return time.Duration(h.max.Load()) }

// Quantile returns the duration that the share q of all durations does not
// exceed, to 1 %; NaN if there is nothing.
func (h *Histogram) Quantile(q float64) float64 {
	total := h.count.Load()
	if total == 0 {
		return math.NaN()
	}
	rank := max(int64(math.Ceil(q*float64(total))), 1)
	for i := range h.counts {
		if rank -= h.counts[i].Load(); rank <= 0 {
			return float64(min(max(middle(i), h.min.Load()-1), h.max.Load()))
		}
	}
	return float64(h.max.Load())
}

type histogramJSON struct {
	Count   int64      `json:"count"`
	Sum     int64      `json:"sum"`
	Min     int64      `json:"min"`
	Max     int64      `json:"max"`
	Buckets [][2]int64 `json:"buckets"`
}

// MarshalJSON writes the buckets that are not empty.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	j := histogramJSON{Count: h.count.Load(), Sum: h.sum.Load(), Min: max(h.min.Load()-1, 0), Max: h.max.Load()}
	for i := range h.counts {
		if n := h.counts[i].Load(); n > 0 {
			j.Buckets = append(j.Buckets, [2]int64{int64(i), n})
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON, or a performer in another language, wrote.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	var total int64
	for _, p := range j.Buckets {
		if p[0] < 0 || p[0] >= buckets || p[1] < 0 {
			return fmt.Errorf("histogram: no bucket %d with %d values", p[0], p[1])
		}
		h.counts[p[0]].Add(p[1])
		total += p[1]
	}
	if total != j.Count {
		return fmt.Errorf("histogram: %d values in the buckets, %d in the count", total, j.Count)
	}
	h.count.Add(j.Count)
	h.sum.Add(j.Sum)
	if j.Count > 0 {
		h.extremes(j.Min, j.Max)
	}
	return nil
}
