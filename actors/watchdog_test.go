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

// pass lets bubble time pass and everything come to rest.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// deadline is when a hold that was asked for now, and is not renewed, ends here.
func deadline(lease time.Duration) time.Duration { return lease - margin(lease) }

func wantCause(t *testing.T, h *Hold, cause error) {
	t.Helper()
	if got := context.Cause(h.Context()); !errors.Is(got, cause) {
		t.Errorf("the hold of %s ended with %v, want %v", h.Name(), got, cause)
	}
}

func wantHeld(t *testing.T, h *Hold) {
	t.Helper()
	if err := h.Context().Err(); err != nil || h.ValidFor() <= 0 {
		t.Errorf("the hold of %s: %v, valid for %v; want it held", h.Name(), context.Cause(h.Context()), h.ValidFor())
	}
}

func TestRenewalsOfOneTickTravelTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		const names = 1000
		holds := make([]*Hold, names)
		for i := range holds {
			holds[i] = r.take(fmt.Sprint("lock-", i))
		}
		// The first renewals fall due in the last tenth of the first period: ten
		// or eleven slots of 100 ms, and the wheel hands over 256 at a time.
		pass(10500 * time.Millisecond)
		if calls, renewals := len(r.door.sizes()), r.door.times("renew"); renewals != names || calls > 11+1+names/256 {
			t.Errorf("%d leases that were taken together: %d renewals in %d calls: %v", names, renewals, calls, r.door.sizes())
		}
		// A period is a third of 30 s less at most a tenth of that, so there are
		// 6 or 7 in the first minute and a bit. The jitter adds up, the batches
		// spread, and are still batches.
		pass(50 * time.Second)
		calls, renewals := len(r.door.sizes()), r.door.times("renew")
		if renewals < 5*names || renewals > 7*names {
			t.Errorf("%d renewals of %d leases in a minute, want 5 to 7 each", renewals, names)
		}
		if calls*10 > renewals {
			t.Errorf("%d renewals needed %d calls", renewals, calls)
		}
		for _, h := range holds {
			wantHeld(t, h)
			r.unlock(h)
		}
		before := r.door.times("renew")
		pass(time.Hour)
		if n := r.door.times("renew") - before; n != 0 {
			t.Errorf("%d renewals after the unlocks", n)
		}
		r.wantEmpty()
	})
}

func TestFailedRenewalsAreRetriedInsideTheLease(t *testing.T) {
	for _, outcome := range []rediscmd.Outcome{rediscmd.OutcomeUnknown, rediscmd.OutcomeRetryable, rediscmd.OutcomeFailed} {
		synctest.Test(t, func(t *testing.T) {
			r := newBubbleRig(t)
			healed := time.Now().Add(25 * time.Second)
			r.door.renewed = func(_ []*rediscmd.Renewal, reply *rediscmd.Reply) {
				if time.Now().Before(healed) {
					*reply = rediscmd.Reply{Outcome: outcome, Err: errFake, SentAt: reply.SentAt}
				}
			}
			h := r.take("lock")
			pass(25 * time.Second)
			failed := r.door.times("renew")
			// From 9 or 10 s to 25 s, every 0.5 to 1.5 s and up to a slot.
			if failed < 9 || failed > 33 {
				t.Errorf("%v: %d renewals were tried in 15 s", outcome, failed)
			}
			wantHeld(t, h)
			pass(2 * time.Second)
			if left := h.ValidFor(); left < 25*time.Second {
				t.Errorf("%v: valid for %v after Redis was back", outcome, left)
			}
			pass(time.Hour)
			wantHeld(t, h)
			r.unlock(h)
		})
	}
}

func TestLossIsToldAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []LostInfo
		r := newBubbleRig(t, func(c *Config) { c.OnLost = func(i LostInfo) { told = append(told, i) } })
		r.door.renewed = func(items []*rediscmd.Renewal, reply *rediscmd.Reply) {
			*reply = rediscmd.Reply{Outcome: rediscmd.OutcomeRetryable, Err: errFake, SentAt: reply.SentAt}
		}
		asked := time.Now()
		h := r.take("lock")
		<-h.Lost()
		if took, want := time.Since(asked), deadline(30*time.Second); took < want || took > want+5*time.Millisecond {
			t.Errorf("the loss was told after %v, want %v", took, want)
		}
		wantCause(t, h, ErrLost)
		if h.ValidFor() != 0 {
			t.Errorf("a lost hold is valid for %v", h.ValidFor())
		}
		synctest.Wait()
		if len(told) != 1 || told[0].Reason != lossExpired || !errors.Is(told[0].Err, errFake) || told[0].Owner != h.Owner() {
			t.Errorf("OnLost was told %+v", told)
		}
		if err := h.Unlock(t.Context()); !errors.Is(err, ErrNotHeld) || !errors.Is(err, ErrLost) {
			t.Errorf("unlock of a lost hold: %v", err)
		}
		tried := r.door.times("renew")
		pass(time.Hour)
		if n := r.door.times("renew"); n != tried {
			t.Errorf("%d renewals after the loss", n-tried)
		}
		r.wantEmpty()
	})
}

func TestRenewalFindsTheFieldGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []LostInfo
		r := newBubbleRig(t, func(c *Config) { c.OnLost = func(i LostInfo) { told = append(told, i) } })
		h := r.take("lock")
		r.door.put("lock", "somebody else", time.Minute)
		pass(11 * time.Second) // the first renewal
		wantCause(t, h, ErrLost)
		if len(told) != 1 || told[0].Reason != lossGone {
			t.Errorf("OnLost was told %+v", told)
		}
		pass(10 * time.Second)
		if owner, _ := r.door.holder("lock"); owner != "somebody else" {
			t.Errorf("the lock of somebody else is now %q's", owner)
		}
		if n := r.door.times("renew"); n != 1 {
			t.Errorf("%d renewals of a lock that was gone at the first", n)
		}
		if err := h.Close(); !errors.Is(err, ErrLost) {
			t.Errorf("Close of a lost hold: %v", err)
		}
		r.wantEmpty()
	})
}

// lateRenewals keeps the replies to renewals back until the test lets them go.
func lateRenewals(d *fakeDoor) (deliver func()) {
	var late []func()
	d.carry = func(script string, run func()) {
		if script == "renew" {
			late = append(late, run)
			return
		}
		go run()
	}
	return func() {
		for _, run := range late {
			run()
		}
		late = nil
	}
}

func TestLateRenewalReplyChangesNothing(t *testing.T) {
	t.Run("after unlock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newBubbleRig(t)
			deliver := lateRenewals(r.door)
			h := r.take("lock")
			pass(11 * time.Second)
			if n := r.door.times("renew"); n != 1 {
				t.Fatalf("%d renewals are out, want 1", n)
			}
			r.unlock(h)
			deliver()
			pass(time.Hour)
			if n := r.door.times("renew"); n != 1 {
				t.Errorf("%d renewals after the unlock", n-1)
			}
			wantCause(t, h, ErrReleased)
			r.wantEmpty()
		})
	})
	t.Run("after loss", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newBubbleRig(t)
			deliver := lateRenewals(r.door)
			h := r.take("lock")
			<-h.Lost()
			deliver() // and it even says yes
			pass(time.Minute)
			wantCause(t, h, ErrLost)
			if h.ValidFor() != 0 {
				t.Error("a late yes brought a lost hold back")
			}
			r.wantEmpty()
		})
	})
	t.Run("after another tenure began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newBubbleRig(t)
			deliver := lateRenewals(r.door)
			first := r.take("lock")
			pass(11 * time.Second)
			r.unlock(first)
			second := r.take("lock")
			deliver() // says that the first owner's field is gone
			synctest.Wait()
			wantHeld(t, second)
			r.door.change(func(d *fakeDoor) { d.carry = nil })
			pass(time.Hour)
			wantHeld(t, second)
			r.unlock(second)
			r.wantEmpty()
		})
	})
}

func TestUnclaimedGrantIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		h := r.acquire(t.Context(), "lock", watched)
		pass(29 * time.Second)
		if owner, _ := r.door.holder("lock"); owner != h.Owner().String() {
			t.Fatalf("the lock is %q's, want the grant's", owner)
		}
		pass(2 * time.Second)
		if n := r.door.times("renew"); n != 0 {
			t.Errorf("%d renewals of a grant that nobody took", n)
		}
		if owner, _ := r.door.holder("lock"); owner != "" {
			t.Errorf("the lease is over, and the lock is still %q's", owner)
		}
		if got, err, ok := h.Granted().TryGet(); !ok || got != nil || !errors.Is(err, ErrLost) {
			t.Errorf("the grant that ran out says %v, %v, %v", got, err, ok)
		}
		pass(time.Minute)
		r.wantEmpty()
	})
}

func TestLateClaimIsRenewedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		f := r.acquire(t.Context(), "lock", watched).Granted()
		pass(20 * time.Second)
		h, err := f.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(300 * time.Millisecond) // two slots and scheduling
		if n := r.door.times("renew"); n != 1 {
			t.Errorf("%d renewals right after a late claim, want 1", n)
		}
		if left := h.ValidFor(); left < 29*time.Second {
			t.Errorf("valid for %v after the renewal", left)
		}
		pass(time.Hour)
		wantHeld(t, h)
		r.unlock(h)
	})
}

func TestRenewingEndsWithTheLastLevelThatNeedsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		forever := r.take("lock")
		fixed := r.take("lock", by(forever.Owner()), leaseOf(40*time.Second))
		if fixed.Count() != 2 {
			t.Fatalf("count %d, want 2", fixed.Count())
		}
		pass(5 * time.Minute)
		wantHeld(t, fixed)
		r.unlock(forever)
		before, began := r.door.times("renew"), time.Now()
		<-fixed.Lost()
		if n := r.door.times("renew") - before; n != 0 {
			t.Errorf("%d renewals of a fixed lease", n)
		}
		if took, want := time.Since(began), deadline(40*time.Second); took < want || took > want+5*time.Millisecond {
			t.Errorf("the fixed lease ended after %v, want %v", took, want)
		}
		pass(time.Minute)
		r.wantEmpty()
	})
}

// A renewal that never comes back (here: a panic on its way out) must not cost
// the warning.
func TestRenewalThatVanishesStillWarns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		r.door.before = func(script, _ string) {
			if script == "renew" {
				panic("boom")
			}
		}
		asked := time.Now()
		h := r.take("lock")
		<-h.Lost()
		if took, want := time.Since(asked), deadline(30*time.Second); took > want+5*time.Millisecond {
			t.Errorf("the loss was told after %v, want %v", took, want)
		}
		pass(2 * time.Minute)
		r.wantEmpty()
	})
}
