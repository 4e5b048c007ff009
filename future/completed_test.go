package future

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
)

// 1000 futures in the order in which they are done, without a goroutine, without a claim.
func TestCompletedOrder(t *testing.T) {
	const n = 1000
	ps, ls, fs := several(n)
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	before := runtime.NumGoroutine()
	var got []int
	next := 0
	settleNext := func() {
		if next < n {
			ps[order[next]].Settle(order[next], nil)
			next++
		}
	}
	settleNext()
	for i, f := range Completed(t.Context(), fs...) {
		if f != fs[i] {
			t.Fatalf("index %d with another future", i)
		}
		got = append(got, i)
		if len(got) == n/2 { // half of them are still pending
			if now := runtime.NumGoroutine(); now > before {
				t.Errorf("%d goroutines more", now-before)
			}
		}
		settleNext()
	}
	if !slices.Equal(got, order) {
		t.Error("not the order of completion")
	}
	for _, l := range ls {
		l.want(t)
	}
}

// Breaking out cancels nothing, leaves nobody on a wait list, and another loop begins anew.
func TestCompletedBreak(t *testing.T) {
	const n = 1000
	ps, ls, fs := several(n)
	seq := Completed(t.Context(), fs...)
	for i := range 10 {
		ps[i].Settle(i, nil)
	}
	seen := 0
	for range seq {
		if seen++; seen == 5 {
			break
		}
	}
	if seen != 5 {
		t.Errorf("saw %d before the break", seen)
	}
	for i, f := range fs {
		if f.waiters.first != nil {
			t.Fatalf("future %d still has a waiter", i)
		}
		if i >= 10 {
			wantPending(t, f)
		}
		ls[i].want(t)
	}
	for i := 10; i < n; i++ {
		ps[i].Settle(i, nil)
	}
	seen = 0
	for i := range seq {
		if i != seen {
			t.Fatalf("position %d has index %d, want the order of fs for what was done before", seen, i)
		}
		seen++
	}
	if seen != n {
		t.Errorf("the second loop saw %d of %d", seen, n)
	}
}

// ctx ends the sequence, after what was there; nothing is canceled.
func TestCompletedCtx(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, ls, fs := several(20)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range 10 {
			ps[i].Settle(i, nil)
		}
		seen := 0
		for i := range Completed(ctx, fs...) {
			if i != seen {
				t.Errorf("index %d at position %d", i, seen)
			}
			seen++
			if seen == 1 {
				cancel()
			}
		}
		if seen != 10 {
			t.Errorf("saw %d, want the 10 that were done", seen)
		}
		for i, f := range fs {
			if f.waiters.first != nil {
				t.Error("a waiter was left behind")
			}
			ls[i].want(t)
		}
	})
}

// A loop that panics leaves nobody waiting either, and a blocked loop wakes up for each completion.
func TestCompletedBlocksAndUnwinds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, _, fs := several(3)
		var got []int
		go func() {
			defer func() { recover() }()
			for i := range Completed(t.Context(), fs...) {
				got = append(got, i)
				if len(got) == 2 {
					panic("enough")
				}
			}
		}()
		for k, i := range []int{1, 0} {
			synctest.Wait()
			if len(got) != k {
				t.Fatalf("saw %v after %d completions", got, k)
			}
			if i == 0 {
				fs[i].Cancel(nil)
			} else {
				ps[i].Settle(i, nil)
			}
		}
		synctest.Wait()
		if !slices.Equal(got, []int{1, 0}) || fs[2].waiters.first != nil {
			t.Errorf("saw %v; left behind: %v", got, fs[2].waiters.first)
		}
	})
}
