package rediscmd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue compares a queue with a slice.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var q queue
	var want []*Op
	for range 20_000 {
		switch rng.IntN(5) {
		case 0:
			if len(want) > 0 {
				if op := q.pop(); op != want[0] {
					t.Fatal("popped another one")
				}
				want = want[1:]
			}
		case 1:
			most := rng.IntN(40)
			got := q.move([]*Op{nil}, most)[1:]
			n := min(most, len(want))
			if !slices.Equal(got, want[:n]) {
				t.Fatalf("moved %d, want %d", len(got), n)
			}
			want = want[n:]
		default:
			for range 1 + rng.IntN(10) {
				op := new(Op)
				q.push(op)
				want = append(want, op)
			}
		}
		if q.n() != len(want) || !slices.Equal(q.all(), want) || len(want) > 0 && q.first() != want[0] {
			t.Fatalf("%d are queued, want %d", q.n(), len(want))
		}
		for i, op := range q.ops[:cap(q.ops)] {
			if op != nil && (i < q.taken || i >= len(q.ops)) {
				t.Fatal("a pointer stays behind")
			}
		}
	}
}

// A queue that is never empty does not grow for ever, and an empty one does not keep
// what a burst had needed.
func TestQueueGivesMemoryBack(t *testing.T) {
	var q queue
	op := new(Op)
	for range 100 {
		q.push(op)
	}
	for range 100_000 {
		q.push(op)
		q.pop()
	}
	if q.n() != 100 || cap(q.ops) > 1000 {
		t.Errorf("room for %d, with %d queued", cap(q.ops), q.n())
	}
	for range 2 * maxKept {
		q.push(op)
	}
	q.move(nil, q.n())
	if cap(q.ops) > maxKept {
		t.Errorf("an empty queue keeps room for %d", cap(q.ops))
	}
}
