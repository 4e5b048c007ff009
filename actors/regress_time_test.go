package actors

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// Regressions, found by a review: bounds and deadlines that were late or gone.

// A grant that came after its lease is never handed out, and the call asks
// again. Its timer had become the lease's meanwhile, and giving the late grant
// back stopped it: WaitFor no longer bounded the wait.
func TestWaitForSurvivesALateGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bound, rtt = 500 * time.Millisecond, 30 * time.Millisecond
		r := newBubbleRig(t)
		slowly(r, rtt)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		h, err := r.acquire(ctx, "lock", leaseOf(20*time.Millisecond), waitAtMost(bound)).Await(ctx)
		var held *HeldError
		if h != nil || !errors.As(err, &held) || !errors.Is(err, ErrNotAcquired) {
			t.Errorf("a wait for what is always too late: %v, %v", h, err)
		}
		if n := r.door.times("acquire"); n < 2 {
			t.Errorf("%d attempts; no grant was late", n)
		}
		if took := time.Since(start); took < bound || took > bound+rtt {
			t.Errorf("WaitFor(%v) ended after %v", bound, took)
		}
		pass(time.Second)
		r.wantEmpty()
	})
}

// Unlocking the last level with the watchdog stopped the lease timer instead of
// the renewals only. If Redis then gave no answer, nothing ended the level that
// was left: it stayed valid for ever.
func TestLoweringKeepsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		d := breakable(r, rediscmd.OutcomeUnknown)
		outer := r.take("lock", leaseOf(10*time.Second))
		inner := r.take("lock", by(outer.Owner()))
		d.broken.Store(true)
		left := outer.ValidFor()
		f := inner.UnlockAsync()
		pass(left - time.Millisecond)
		wantHeld(t, outer)
		if n := r.door.times("renew"); n != 0 {
			t.Errorf("%d renewals for a level with a lease of its own", n)
		}
		pass(time.Millisecond)
		select {
		case <-outer.Lost():
			wantCause(t, outer, ErrLost)
		default:
			t.Errorf("not lost at its deadline: valid for %v, ctx %v", outer.ValidFor(), outer.Context().Err())
		}
		pass(time.Second) // one back-off
		if _, err, ok := f.TryGet(); !ok || !errors.Is(err, ErrNotHeld) && !errors.Is(err, ErrUnavailable) {
			t.Errorf("the unlock that got no answer says %v, done %v", err, ok)
		}
		d.broken.Store(false)
		pass(time.Minute)
		r.wantEmpty()
	})
}

// A renewal is put into a coarse slot of the wheel, which fires up to its width
// late. If that was the last event before the deadline, the loss was told so much
// later, with short leases after the server had let go.
func TestLossIsToldByTheDeadline(t *testing.T) {
	for _, w := range []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second, 30 * time.Second} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			for i := range 60 {
				synctest.Test(t, func(t *testing.T) { lossAt(t, w, i) })
			}
		})
	}
}

// lossAt loses one lease of w to a server that refuses every renewal; i varies
// where in a slot it begins, and the jitter.
func lossAt(t *testing.T, w time.Duration, i int) {
	r := newBubbleRig(t, func(c *Config) { c.WatchdogTimeout = w })
	time.Sleep(time.Duration(i*977%1000) * 1037 * time.Microsecond)
	r.door.renewed = func(_ []*rediscmd.Renewal, reply *rediscmd.Reply) {
		reply.Outcome, reply.Err = rediscmd.OutcomeRetryable, errFake
	}
	r.door.change(func(d *fakeDoor) {
		d.carry = func(script string, run func()) {
			go func() {
				if script == "renew" {
					time.Sleep(2 * time.Millisecond)
				}
				run()
			}()
		}
	})
	r.System.seed.Store(uint64(i+1) * 0x9e3779b97f4a7c15 * 31)
	start := time.Now()
	h := r.take("lock")
	<-h.Lost()
	took := time.Since(start)
	if took != deadline(w) {
		t.Errorf("run %d: the loss was told %v after the deadline of %v", i, took-deadline(w), deadline(w))
	}
	if took >= w {
		t.Errorf("run %d: the loss was told %v after the server's lease was over", i, took-w)
	}
	if r.door.times("renew") == 0 {
		t.Errorf("run %d: no renewal was tried", i)
	}
}

// slowKeeper delays the news that a grant was canceled.
type slowKeeper struct {
	*Hold
	by time.Duration
}

func (k slowKeeper) Canceled(cause error, h *Hold, settled bool) {
	time.Sleep(k.by)
	k.Hold.Canceled(cause, h, settled)
}

// A grant can be canceled by its caller and expire before the actor hears of
// that. OnLost was called then, for a hold that nobody ever had.
func TestExpiryOfACanceledGrantIsNoLoss(t *testing.T) {
	for _, canceled := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var told []LostInfo
			r := newBubbleRig(t, func(c *Config) { c.OnLost = func(i LostInfo) { told = append(told, i) } })
			slowly(r, time.Millisecond)
			h := r.acquire(t.Context(), "lock", leaseOf(time.Second))
			h.promise.Init(slowKeeper{h, 2 * time.Second})
			pass(2 * time.Millisecond)
			if !h.Granted().IsDone() {
				t.Fatal("not granted")
			}
			want := 0
			if canceled {
				go h.Granted().Cancel(nil)
			} else if _, err, ok := h.Granted().TryGet(); err == nil && ok {
				want = 1 // the test of the test: a claimed hold is lost
			}
			pass(1500 * time.Millisecond)
			if c := r.Counts(); c.Held != 0 {
				t.Errorf("canceled %v: %d holds after the lease, want none", canceled, c.Held)
			}
			pass(time.Minute)
			if len(told) != want {
				t.Errorf("canceled %v: OnLost was told %+v, want %d losses", canceled, told, want)
			}
			r.wantEmpty()
		})
	}
}
