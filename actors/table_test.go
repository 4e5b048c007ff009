package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scattered answers at random: at once on the actor, soon on a goroutine, later
// from a timer.
func scattered(_ string, run func()) {
	switch n := rand.IntN(10); {
	case n == 0:
		run()
	case n < 8:
		go func() {
			for range rand.IntN(4) {
				runtime.Gosched()
			}
			run()
		}()
	default:
		time.AfterFunc(time.Duration(rand.IntN(200))*time.Microsecond, run)
	}
}

// Passivation is as aggressive as it can be by design: an actor lets go of its
// name at the end of every burst. 32 callers meet on 64 names, so that actors
// retire and are revived all the time (actors-wheel.md section 4 and 8.9-1).
func TestTablePassivationStress(t *testing.T) {
	r := newRig(t)
	r.door.carry = scattered
	const callers, names = 32, 64
	rounds := 2000
	if testing.Short() || raceEnabled {
		rounds = 400
	}
	var (
		wg      sync.WaitGroup
		inside  [names]atomic.Int32
		revived atomic.Int64
	)
	for range callers {
		wg.Go(func() {
			for range rounds {
				n := rand.IntN(names)
				if r.stressOnce(t, n, &inside[n]) {
					revived.Add(1)
				}
			}
		})
	}
	r.wantAnswered(&wg)
	if n := revived.Load(); n == 0 {
		t.Error("no call got its lock: nothing was tested")
	}
	r.wantEmpty()
	if total, _ := r.pool.live(); total > names {
		t.Errorf("%d actors were made for %d names", total, names)
	}
	for n := range names {
		if owner, _ := r.door.holder(fmt.Sprint("lock-", n)); owner != "" {
			t.Errorf("lock-%d is still %s's", n, owner)
		}
	}
}

// stressOnce makes one call of a random sort, and reports whether it held the
// lock.
func (r *rig) stressOnce(t *testing.T, n int, inside *atomic.Int32) bool {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	name := fmt.Sprint("lock-", n)
	var h *Hold
	var err error
	switch rand.IntN(8) {
	case 0:
		if _, err = r.Inspect(r.kind, name).Get(ctx); err != nil {
			t.Errorf("inspect: %v", err)
		}
		return false
	case 1: // given up at a random moment, by its ctx or by Cancel
		short, stop := context.WithTimeout(ctx, time.Duration(rand.IntN(300))*time.Microsecond)
		defer stop()
		h = r.acquire(short, name, watched)
		if rand.IntN(2) == 0 {
			runtime.Gosched()
			h.Granted().Cancel(nil)
		}
		if h, err = h.Granted().Get(ctx); errors.Is(err, ErrCanceled) {
			return false
		}
	case 2, 3:
		if h, err = r.acquire(ctx, name, asTry).Await(ctx); errors.Is(err, ErrNotAcquired) {
			return false
		}
	case 4:
		wait := 1 + time.Duration(rand.IntN(500))*time.Microsecond
		if h, err = r.acquire(ctx, name, waitAtMost(wait)).Await(ctx); errors.Is(err, ErrNotAcquired) && ctx.Err() == nil {
			return false
		}
	default:
		h, err = r.acquire(ctx, name).Await(ctx)
	}
	if err != nil {
		t.Errorf("acquire: %v", err)
		return false
	}
	if inside.Add(1) != 1 {
		t.Error("two inside")
	}
	runtime.Gosched()
	inside.Add(-1)
	if err := h.Unlock(ctx); err != nil {
		t.Errorf("unlock: %v", err)
	}
	return true
}

// wantAnswered waits for callers that hang if one of their calls is never answered.
func (r *rig) wantAnswered(callers *sync.WaitGroup) {
	r.tb.Helper()
	all := make(chan struct{})
	go func() { callers.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(2 * patience):
		r.tb.Fatalf("a call was never answered: %d wait for admission, %+v", r.admission.n.Load(), r.Counts())
	}
}

// Names that are used once leave nothing behind but a bounded pool.
func TestTableForgetsNames(t *testing.T) {
	r := newRig(t)
	const names = 3000
	holds := make([]*Hold, names)
	for i := range holds {
		holds[i] = r.take(fmt.Sprint("lock-", i))
	}
	if n := r.table.n.Load(); n != names {
		t.Errorf("%d cells for %d held names", n, names)
	}
	// A held but quiet name has no actor (activation.go).
	r.eventually("the actors retire", func() bool { _, bound := r.pool.live(); return bound == 0 })
	if total, _ := r.pool.live(); total > maxIdle {
		t.Errorf("%d idle actors are kept, at most %d", total, maxIdle)
	}
	for _, h := range holds {
		r.unlock(h)
	}
	r.wantEmpty()
	for i := range r.table.shards {
		n := 0
		for c := r.table.shards[i].blank; c != nil; c = c.next {
			n++
		}
		if n > maxBlank {
			t.Errorf("shard %d keeps %d blank cells, at most %d", i, n, maxBlank)
		}
	}
}

// The pool stops what it does not keep, and everything on close.
func TestPoolStopsActors(t *testing.T) {
	r := newRig(t)
	const names = maxIdle + 200
	gate := make(chan struct{})
	r.door.carry = func(_ string, run func()) { go func() { <-gate; run() }() }
	holds := make([]*Hold, names)
	for i := range holds {
		holds[i] = r.acquire(t.Context(), fmt.Sprint("lock-", i))
	}
	if total, bound := r.pool.live(); total != names || bound != names {
		t.Errorf("%d actors, %d bound, want %d busy ones", total, bound, names)
	}
	close(gate)
	for _, h := range holds {
		if _, err := h.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.eventually("the pool shrinks", func() bool { total, bound := r.pool.live(); return bound == 0 && total <= maxIdle })
	for _, h := range holds {
		r.unlock(h)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if total, bound := r.pool.live(); total != 0 || bound != 0 {
		t.Errorf("%d actors, %d bound, outlive Close", total, bound)
	}
}

// eventually waits for something that happens by itself.
func (r *rig) eventually(what string, ok func() bool) {
	r.tb.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			r.tb.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
