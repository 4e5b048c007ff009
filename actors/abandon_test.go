package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A ctx may end between Acquire's look at it and the posting of the request. The
// cancel is there before the call then, and finds nothing to cancel. This does
// what Acquire does, with the cancel in between.
func TestCancelThatOvertakesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		h := &Hold{sys: r.System, key: key{"lock", r.kind}, parent: t.Context()}
		h.hold, h.kind, h.owner = h, callAcquire, r.NewOwner()
		h.lease, h.watchdog = r.rules.watchdog, true
		h.timer.Value = h
		h.promise.Init(h)
		h.message = message{kind: evCall, about: &h.call}
		r.pending.Add(1)
		h.parentEnded()
		r.table.post(h.key, &h.message)
		pass(time.Second)
		if _, err, ok := h.Granted().TryGet(); !ok || !errors.Is(err, ErrCanceled) {
			t.Errorf("a canceled request says %v, done %v", err, ok)
		}
		if owner, _ := r.door.holder("lock"); owner != "" {
			t.Errorf("the lock is %s's, whose request was canceled", owner)
		}
		r.wantEmpty()
	})
}

// slowCtx lets time pass while it is being watched.
type slowCtx struct {
	context.Context
	done chan struct{}
}

func (c *slowCtx) Done() <-chan struct{} { return c.done }

func (c *slowCtx) AfterFunc(func()) func() bool {
	time.Sleep(time.Second)
	return func() bool { return true }
}

// A WaitFor bound so short that it passes before the request is posted still
// ends the wait.
func TestWaitBoundThatOvertakesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		h := r.take("lock")
		ctx := &slowCtx{Context: t.Context(), done: make(chan struct{})}
		waiter := r.acquire(ctx, "lock", watched, waitAtMost(time.Millisecond))
		pass(time.Second)
		if _, err, ok := waiter.Granted().TryGet(); !ok || !errors.Is(err, ErrNotAcquired) {
			t.Errorf("a second after a bound of 1 ms the wait says %v, done %v", err, ok)
		}
		r.unlock(h)
		waiter.Granted().Cancel(nil)
		pass(time.Second)
	})
}

// Cancel races the grant: whoever wins, nothing is held by nobody, and the books
// balance.
func TestCancelAgainstGrant(t *testing.T) {
	r := newRig(t)
	r.door.carry = scattered
	const callers, names = 16, 8
	rounds := 1000
	if testing.Short() || raceEnabled {
		rounds = 200
	}
	var wg sync.WaitGroup
	var kept, canceled atomic.Int64
	for range callers {
		wg.Go(func() {
			for range rounds {
				f := r.acquire(t.Context(), fmt.Sprint("lock-", rand.IntN(names))).Granted()
				if rand.IntN(2) == 0 {
					time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
				}
				if f.Cancel(nil) {
					canceled.Add(1)
				}
				h, err := f.Get(t.Context())
				if err == nil {
					kept.Add(1)
					r.unlock(h)
				} else if !errors.Is(err, ErrCanceled) {
					t.Errorf("acquire: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if canceled.Load() == 0 {
		t.Error("no cancel won: nothing was tested")
	}
	r.wantEmpty()
	for n := range names {
		if owner, _ := r.door.holder(fmt.Sprint("lock-", n)); owner != "" {
			t.Errorf("lock-%d is still %s's", n, owner)
		}
	}
}

// A blocking reader takes the grant while another cancels: one of them wins.
func TestClaimAgainstCancel(t *testing.T) {
	r := newRig(t)
	rounds := 2000
	if testing.Short() || raceEnabled {
		rounds = 400
	}
	var taken, lost int
	for range rounds {
		h := r.acquire(t.Context(), "lock")
		won := make(chan bool)
		go func() {
			time.Sleep(time.Duration(rand.IntN(40)) * time.Microsecond)
			won <- h.Granted().Cancel(nil)
		}()
		got, err := h.Await(t.Context())
		if <-won != (err != nil) {
			t.Fatalf("Cancel and the reader disagree: %v", err)
		}
		if err == nil {
			taken++
			r.unlock(got)
		} else {
			lost++
		}
	}
	if taken == 0 || lost == 0 {
		t.Errorf("%d taken, %d canceled: they did not race", taken, lost)
	}
	r.wantEmpty()
}
