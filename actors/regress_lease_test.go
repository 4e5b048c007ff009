package actors

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// A hand-off that set a shorter lease ran, and its reply was lost; the retry kept the
// TTL and counted the old owner's longer lease as the new owner's.
func TestHandOffAfterALostReplySetsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		first := r.take("lock", leaseOf(32*time.Second)) // longer than the watchdog's 30 s
		waiter := r.acquire(t.Context(), "lock")
		pass(time.Millisecond)
		var n atomic.Int32
		r.door.change(func(d *fakeDoor) {
			d.carry = func(_ string, run func()) { go run() }
		})
		lossy := &lossyHandOff{fakeDoor: r.door, n: &n}
		r.kind.Door = lossy
		first.UnlockAsync()
		pass(10 * time.Second)
		h, err, ok := waiter.Granted().TryGet()
		if !ok || err != nil {
			t.Fatalf("not granted: %v %v", ok, err)
		}
		r.door.mu.Lock()
		ttl := time.Until(r.door.locks["lock"].expires)
		r.door.mu.Unlock()
		if h.ValidFor() > ttl {
			t.Errorf("valid for %v, but Redis' TTL is %v", h.ValidFor(), ttl)
		}
		r.unlock(h)
	})
}

// lossyHandOff loses the replies to the first three hand-offs.
type lossyHandOff struct {
	*fakeDoor
	n *atomic.Int32
}

func (d *lossyHandOff) HandOff(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.HandOffArgs) {
	if d.n.Add(1) > 3 {
		d.fakeDoor.HandOff(op, done, a)
		return
	}
	sink := new(rediscmd.Op)
	d.fakeDoor.HandOff(sink, nowhere{}, a)
	sentAt := time.Now()
	go func() {
		time.Sleep(time.Second)
		op.Reply = rediscmd.Reply{Outcome: rediscmd.OutcomeUnknown, Err: errFake, SentAt: sentAt}
		done.Completed(op)
	}()
}

type nowhere struct{}

func (nowhere) Completed(*rediscmd.Op) {}

// The reply to a renewal between the step that lowers the last watched level and the
// effect that stops the watch moved the deadline beyond the TTL that was being set.
func TestRenewalReplyWhileLowering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		outer := r.take("lock", leaseOf(time.Second))
		inner := r.take("lock", by(outer.Owner())) // watched
		tn := inner.tenure
		pass(9 * time.Second) // a renewal falls due soon; nothing acked since
		// the step, on a copy of the state at rest
		c, sh := r.table.at(key{"lock", r.kind})
		sh.mu.Unlock()
		var st state
		st.resume(r.rulesOf(r.kind), c.rest)
		sent := &renewing{tenure: tn, epoch: tn.watch.epoch}
		sent.item.Held = true
		sentAt := r.wheel.Now()
		u := &call{kind: callUnlock, tenure: tn, duty: &duty{of: &inner.call}}
		st.step(&event{kind: evCall, now: r.wheel.Now(), call: u})
		if st.flight.kind != askRelease || st.flight.level != 1 {
			t.Fatal("no lowering")
		}
		// ... here, before fxWatch: the reply to the renewal, on a worker
		_, _ = r.renewed(sent, &rediscmd.Reply{}, sentAt, r.wheel.Now())
		left := tn.expiry() - r.wheel.Now()
		if left > st.flight.lease {
			t.Errorf("the lowering sets a TTL of %v, the deadline is in %v", st.flight.lease, left)
		}
		tn.watched.Store(true) // as it was: the step above was on a copy
	})
}

// A hand-off publishes nothing: a message that arrives while one flies is a forced
// unlock's, and was taken for our own.
func TestWakeUpDuringHandOffIsNotLost(t *testing.T) {
	b := newBench()
	first := b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'a'}, lease: time.Hour})
	b.answers(rediscmd.Granted, 0)
	second := b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'w'}, lease: time.Hour})
	b.is(event{kind: evSubscribed})
	b.calls(&call{kind: callUnlock, tenure: first.tenure, duty: &duty{of: first}})
	if b.flight.kind != askHandOff || b.flight.yield != rediscmd.YieldNever {
		t.Fatalf("flying is %d", b.flight.kind)
	}
	b.is(event{kind: evWake}) // a forced unlock's, right after the hand-off ran; a hand-off publishes nothing
	b.answers(rediscmd.HandedOver, 0)
	if b.flight.kind != askCheck {
		t.Errorf("the message was dropped: flying is %d, want a check; live %v, lease for an hour", b.flight.kind, second.tenure.live.Load())
	}
}
