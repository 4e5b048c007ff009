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

func TestList(t *testing.T) {
	var a, b list[int]
	a.init()
	b.init()
	entries := make([]Entry[int], 6)
	for i := range entries {
		entries[i].Value = i
	}
	values := func(l *list[int]) (got []int) {
		for n := l.root.link.next; n != &l.root; n = n.link.next {
			if n.link.prev.link.next != n || n.link.next.link.prev != n {
				t.Fatal("broken links")
			}
			got = append(got, n.Value)
		}
		return got
	}
	a.take(&b) // nothing onto nothing
	if !a.empty() || a.first() != nil {
		t.Error("a list of nothing is not empty")
	}
	for i := range 3 {
		a.push(&entries[i])
		b.push(&entries[i+3])
	}
	a.take(&b)
	if got := values(&a); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) || !b.empty() {
		t.Errorf("after take: %v and %v", got, values(&b))
	}
	for _, i := range []int{0, 5, 3} {
		entries[i].link.unlink()
	}
	b.take(&a)
	if got := values(&b); !slices.Equal(got, []int{1, 2, 4}) || !a.empty() {
		t.Errorf("after unlink: %v and %v", got, values(&a))
	}
}
