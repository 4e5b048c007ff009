package wheel

import (
	"math/rand/v2"
	"testing"
)

// TestBuckets compares ready buckets with a set, while entries are pushed into new ones, taken out of the middle of old
// ones, and popped.
func TestBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var q buckets[int]
	want := map[*Entry[int]]bool{} // what is in q
	popped := func(e *Entry[int]) {
		if !want[e] || e.in != nil {
			t.Fatalf("popped %p, which was not there, or is said to be in %p", e, e.in)
		}
		delete(want, e)
	}
	made := 0
	for range 5_000 {
		switch rng.IntN(4) {
		case 0: // a slot fires
			b := q.fresh()
			if !b.empty() || b.next != nil {
				t.Fatal("a fresh bucket is not empty, or in a queue")
			}
			for range 1 + rng.IntN(20) {
				e := &Entry[int]{Value: made}
				made++
				b.push(e)
				want[e] = true
			}
			q.push(b)
		case 1: // some are canceled, sometimes all
			few := rng.IntN(len(want) + 1)
			for e := range want {
				if few--; few < 0 {
					break
				}
				e.in.remove(e)
				if e.in != nil {
					t.Fatal("a canceled entry is said to be in a bucket")
				}
				delete(want, e)
			}
		default:
			for range rng.IntN(8) {
				if e := q.pop(); e != nil {
					popped(e)
				} else if len(want) > 0 {
					t.Fatalf("nothing is ready, want %d", len(want))
				}
			}
		}
		n := 0
		for b := q.head; b != nil; b = b.next {
			for i, e := range b.entries[b.taken:] {
				if i += b.taken; e.in != b || int(e.pos) != i || !want[e] {
					t.Fatalf("entry %d is out of place", e.Value)
				}
			}
			n += len(b.entries) - b.taken
			for i, e := range b.entries[:cap(b.entries)] {
				if e != nil && (i < b.taken || i >= len(b.entries)) {
					t.Fatal("a pointer stays behind")
				}
			}
		}
		if n != len(want) || q.empty() != (n == 0) {
			t.Fatalf("%d entries, empty %v, want %d", n, q.empty(), len(want))
		}
	}
	for e := q.pop(); e != nil; e = q.pop() {
		popped(e)
	}
	if len(want) != 0 || q.head != nil {
		t.Errorf("%d were not popped", len(want))
	}
}

// TestBlankBuckets: a bucket is used again, one that had grown large gives its memory back.
func TestBlankBuckets(t *testing.T) {
	var q buckets[int]
	for _, tt := range []struct {
		n    int
		kept bool
	}{{10, true}, {4 * maxRoom, false}} {
		b := q.fresh()
		entries := make([]Entry[int], tt.n)
		for i := range entries {
			b.push(&entries[i])
		}
		q.push(b)
		for q.pop() != nil {
		}
		if again := q.fresh(); again != b || cap(again.entries) > 0 != tt.kept {
			t.Errorf("after %d entries: the same bucket %v, with room for %d", tt.n, again == b, cap(again.entries))
		}
	}
}

// TestFewBlankBuckets: what a burst over the whole ring had needed is not kept for ever.
func TestFewBlankBuckets(t *testing.T) {
	var q buckets[int]
	entries := make([]Entry[int], 3*maxBlank)
	for i := range entries {
		b := q.fresh()
		b.push(&entries[i])
		q.push(b)
	}
	for q.pop() != nil {
	}
	n := 0
	for b := q.blank; b != nil; b = b.next {
		n++
	}
	if n != maxBlank || q.blanks != n {
		t.Errorf("%d blank buckets, counted as %d, want %d", n, q.blanks, maxBlank)
	}
}
