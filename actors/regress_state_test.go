package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// Regressions, found by a review: what a name remembers, and for whom. The tests
// are named after what must not happen, or must go on happening.

// brokenRelease is a door whose releases, while it is told to, answer with an
// outcome that says nothing was released.
type brokenRelease struct {
	*fakeDoor
	broken  atomic.Bool
	outcome rediscmd.Outcome
}

func breakable(r *rig, outcome rediscmd.Outcome) *brokenRelease {
	d := &brokenRelease{fakeDoor: r.door, outcome: outcome}
	r.kind.Door = d
	return d
}

func (d *brokenRelease) Release(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.ReleaseArgs) {
	if !d.broken.Load() {
		d.fakeDoor.Release(op, done, a)
		return
	}
	d.send("release", a.Name, op, done, func() rediscmd.Reply {
		return rediscmd.Reply{Outcome: d.outcome, Err: errFake}
	})
}

// slowly makes every reply of r's door take d.
func slowly(r *rig, d time.Duration) {
	r.door.change(func(door *fakeDoor) {
		door.carry = func(_ string, run func()) {
			go func() { time.Sleep(d); run() }()
		}
	})
}

// bench is a bare transition function with a clock that stands still.
type bench struct {
	*state
	now time.Duration
}

func newBench() *bench {
	return &bench{now: time.Second, state: &state{seed: 1, rules: &rules{
		watchdog: 30 * time.Second, poll: 10 * time.Second, maxWaiters: 9,
		reentrant: true, handOff: true, runLength: 3, runTime: time.Second,
	}}}
}

func (b *bench) is(e event) {
	e.now = b.now
	b.step(&e)
	b.out = b.out[:0]
}

func (b *bench) calls(c *call) *call {
	b.is(event{kind: evCall, call: c})
	return c
}

func (b *bench) answers(v rediscmd.Verdict, ttl time.Duration) {
	b.is(event{kind: evReply, reply: answer{outcome: rediscmd.OutcomeDone, verdict: v, ttl: ttl, sentAt: b.now}})
}

// The server's definite no to an unlock made the actor write the count anew; the
// no to that made it do so again, without a pause, for the rest of the lease.
func TestRefusedRecountIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		d := breakable(r, rediscmd.OutcomeFailed)
		slowly(r, 200*time.Microsecond)
		outer := r.take("lock", leaseOf(time.Hour))
		inner := r.take("lock", by(outer.Owner()), leaseOf(time.Hour))
		d.broken.Store(true)
		f := inner.UnlockAsync()
		pass(time.Second)
		if _, err, ok := f.TryGet(); !ok || !errors.Is(err, errFake) {
			t.Errorf("the refused unlock says %v, done %v; want the server's error", err, ok)
		}
		if n := r.door.times("release"); n != 2 {
			t.Errorf("%d releases were sent in a second, want the unlock's and one recount", n)
		}
		wantHeld(t, outer)
		d.broken.Store(false)
		r.unlock(outer)
		r.wantEmpty()
	})
}

// A waiter was parked, and left; the next one to come stayed parked in its place,
// until the poll that the first had been waiting for, without ever having asked.
func TestNewHeadIsNotParkedForAnother(t *testing.T) {
	b := newBench()
	first := b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'a'}, lease: time.Second})
	b.answers(rediscmd.Held, time.Hour)
	if !b.parked {
		t.Fatal("a refused waiter is not parked")
	}
	b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 't'}, lease: time.Second, try: true})
	b.is(event{kind: evCancel, call: first})
	next := b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'b'}, lease: time.Second})
	b.answers(rediscmd.Held, time.Hour) // to the try, which kept the name awake
	if b.flight.kind != askAcquire || b.flight.call != next {
		t.Errorf("the new head was not sent: parked %v until %v, flying %d", b.parked, b.pollAt, b.flight.kind)
	}
}

// A message that came while a level was being lowered was taken for the echo of
// our own release, which publishes nothing when a level is left. It was a forced
// unlock's, and the holder went on until its next renewal, or, with a fixed
// lease, until the end of it.
func TestWakeUpDuringLoweringIsNotLost(t *testing.T) {
	b := newBench()
	outer := b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'a'}, lease: time.Hour, shared: true})
	b.answers(rediscmd.Granted, 0)
	inner := b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'a'}, lease: time.Hour, shared: true})
	b.answers(rediscmd.Granted, 0)
	b.calls(&call{kind: callAcquire, owner: Owner{simRuntime, 'w'}, lease: time.Hour})
	b.is(event{kind: evSubscribed})
	b.calls(&call{kind: callUnlock, tenure: inner.tenure, duty: &duty{of: inner}})
	if b.flight.kind != askRelease || b.flight.level != 1 {
		t.Fatalf("flying is %d to level %d, want a lowering to 1", b.flight.kind, b.flight.level)
	}
	b.is(event{kind: evWake})
	b.answers(rediscmd.Lowered, 0)
	if b.flight.kind != askCheck {
		t.Fatalf("the message was dropped: flying is %d, want a check", b.flight.kind)
	}
	tenure := outer.tenure
	b.answers(rediscmd.Absent, 0)
	if tenure.live.Load() {
		t.Error("the check found nothing, and the hold lives on")
	}
}

// Close counted the names while later shards still took new ones. When the count
// fell to zero in between, Close took that for the end, returned nil, and left
// the locks that came afterwards to their leases.
func TestCloseLeavesNoCell(t *testing.T) {
	r := newRig(t)
	var early, late key // a name in the middle of Close's way, one near its end
	for i := 0; late.kind == nil || early.kind == nil; i++ {
		k := key{fmt.Sprint("lock-", i), r.kind}
		switch sh, _ := r.table.shard(k); {
		case sh == &r.table.shards[128]:
			early = k
		case sh == &r.table.shards[255]:
			late = k
		}
	}
	_, stop := r.table.at(early) // Close has to stop here
	closed := make(chan error, 1)
	go func() { closed <- r.System.Close(context.Background()) }()
	r.eventually("Close is half way", func() bool {
		sh := &r.table.shards[0]
		sh.mu.Lock()
		defer sh.mu.Unlock()
		return sh.closed
	})
	if _, err := r.Inspect(r.kind, late.name).Get(t.Context()); err != nil {
		t.Errorf("a call ahead of Close: %v", err)
	}
	// That one's cell came and went: the count is zero again.
	r.eventually("the name is forgotten", func() bool { return r.table.n.Load() == 0 })
	select {
	case <-r.table.empty:
		t.Error("Close was told that nothing is left while names were still accepted")
	default:
	}
	slowly(r, 20*time.Millisecond)
	h := r.acquire(t.Context(), late.name)
	stop.mu.Unlock()
	select {
	case err := <-closed:
		if err != nil {
			t.Errorf("Close: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not return")
	}
	if n := r.table.n.Load(); n != 0 {
		t.Errorf("Close returned with %d names left", n)
	}
	if owner, _ := r.door.holder(late.name); owner != "" {
		t.Errorf("after Close the lock is %s's", owner)
	}
	if _, err, ok := h.Granted().TryGet(); !ok || !errors.Is(err, ErrClosed) {
		t.Errorf("the last call says %v, done %v, want ErrClosed", err, ok)
	}
}
