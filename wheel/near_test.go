package wheel

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestHeap compares the near heap with a sorted slice, removals from the middle included.
func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h heap[int]
	var want []*Entry[int]
	for i := range 20_000 {
		if rng.IntN(5) < 3 {
			e := &Entry[int]{Value: i, due: time.Duration(rng.IntN(500))}
			h.push(node[int]{at: e.due, entry: e})
			want = append(want, e)
		} else if len(want) > 0 {
			e := want[rng.IntN(len(want))]
			if rng.IntN(2) == 0 {
				e = h.nodes[0].entry
			}
			if got := h.remove(int(e.pos)); got.entry != e {
				t.Fatalf("removed %d instead of %d", got.entry.Value, e.Value)
			}
			want = slices.DeleteFunc(want, func(o *Entry[int]) bool { return o == e })
		}
		if len(h.nodes) != len(want) {
			t.Fatalf("%d nodes, want %d", len(h.nodes), len(want))
		}
		for i, n := range h.nodes {
			if int(n.entry.pos) != i || i > 0 && h.nodes[(i-1)/2].at > n.at {
				t.Fatalf("node %d is out of place", i)
			}
		}
		if len(want) > 200 {
			for len(h.nodes) > 0 {
				h.remove(0)
			}
			want = nil
		}
	}
}
