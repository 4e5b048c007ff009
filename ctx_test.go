package holdfast_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// "Wait or hold?" of design section 5: ctx and WaitFor bound the wait, the lease
// bounds the hold, and a deadline meant for the one never ends the other.

// A ctx that has ended sends nothing, in any form of the call.
func TestEndedCtxSendsNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 3*time.Second).Lock("n")
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	s.MustDo("CONFIG", "RESETSTAT")
	calls := map[string]func() error{
		"Lock":         func() error { _, err := l.Lock(ctx); return err },
		"TryLock":      func() error { _, err := l.TryLock(ctx); return err },
		"LockAsync":    func() error { _, err := l.LockAsync(ctx).Get(soon(t)); return err },
		"TryLockAsync": func() error { _, err := l.TryLockAsync(ctx).Get(soon(t)); return err },
		"WaitFor":      func() error { _, err := l.Lock(ctx, holdfast.WaitFor(time.Minute)); return err },
		"Do": func() error {
			return l.Do(ctx, func(context.Context) error { t.Error("Do ran its function"); return nil })
		},
	}
	for name, call := range calls {
		err := call()
		if err == nil {
			t.Errorf("%s succeeded", name)
			continue
		}
		mustBe(t, err, holdfast.ErrNotAcquired, holdfast.ErrCanceled, context.Canceled, reason)
	}
	for _, command := range []string{"evalsha", "eval", "subscribe"} {
		if r.ran(command) {
			t.Errorf("%s was sent", command)
		}
	}
}

// V5: the deadline of Lock's ctx bounds the wait, also where Redis answers nothing.
func TestDeadlineBoundsTheWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 5*time.Second).Lock("n")
	r.foreign("n", stranger, "1", "60000")
	start := time.Now()
	_, err := l.Lock(within(t, 300*time.Millisecond))
	mustBe(t, err, holdfast.ErrNotAcquired, context.DeadlineExceeded)
	if took := time.Since(start); took < 300*time.Millisecond || took > 3*time.Second {
		t.Errorf("returned after %v, the deadline was 0.3 s", took)
	}
	s.Pause()
	defer s.Resume()
	for name, call := range map[string]func(context.Context) error{
		"Lock":        func(ctx context.Context) error { _, err := l.Lock(ctx); return err },
		"TryLock":     func(ctx context.Context) error { _, err := l.TryLock(ctx); return err },
		"Inspect":     func(ctx context.Context) error { _, err := l.Inspect(ctx); return err },
		"ForceUnlock": func(ctx context.Context) error { _, err := l.ForceUnlock(ctx); return err },
	} {
		start := time.Now()
		err := call(within(t, 200*time.Millisecond))
		if took := time.Since(start); err == nil || took > 2*time.Second {
			t.Errorf("%s on a frozen server: %v after %v", name, err, took)
		}
		mustBe(t, err, context.DeadlineExceeded)
	}
}

// The same deadline says nothing about the hold, nor does a cancel after the grant.
func TestDeadlineDoesNotEndTheHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 2 * time.Second
	l := newRuntime(t, s, lease).Lock("n")
	type key struct{}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), 5*time.Second)
	h, err := l.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	f := l.LockAsync(ctx, holdfast.As(h.Owner()))
	again := mustGet(t, f)
	cancel()
	time.Sleep(lease + lease/4) // renewals go on
	for _, h := range []*holdfast.Hold{h, again} {
		if cause := context.Cause(h.Context()); cause != nil {
			t.Fatalf("hold ended: %v", cause)
		}
		if _, ok := h.Context().Deadline(); ok || h.Context().Value(key{}) != "v" {
			t.Error("the hold's context has the deadline, or lost the values, of the ctx it was asked with")
		}
	}
	r.mustHold("n", h.Owner(), "2", lease)
	mustUnlock(t, again)
	mustUnlock(t, h)
}

// A cancel ends the wait at once, and leaves nothing behind.
func TestCancelEndsTheWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 5*time.Second).Lock("n")
	h := mustLock(t, l)
	ctx, cancel := context.WithCancel(context.Background())
	blocked := make(chan error, 1)
	go func() { _, err := l.Lock(ctx); blocked <- err }()
	f := l.LockAsync(ctx)
	waitBehind(t, r, l, 2)
	cancel()
	mustBe(t, <-blocked, holdfast.ErrCanceled, holdfast.ErrNotAcquired, context.Canceled)
	_, err := f.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled, holdfast.ErrNotAcquired, context.Canceled)
	eventually(t, "the queue is empty", func() bool {
		st, err := l.Inspect(soon(t))
		return err == nil && st.LocalWaiters == 0
	})
	mustUnlock(t, h)
	if r.exists("n") {
		t.Error("the lock went to somebody who had left")
	}
}

// WaitFor bounds the wait, and only the wait.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 2 * time.Second
	rt := newRuntime(t, s, lease)
	l := rt.Lock("n")
	r.foreign("n", stranger, "1", "60000")

	start := time.Now()
	_, err := l.Lock(soon(t), holdfast.WaitFor(400*time.Millisecond))
	if took := time.Since(start); took < 300*time.Millisecond || took > 3*time.Second {
		t.Errorf("WaitFor(0.4 s) ended after %v", took)
	}
	if _, ok := errors.AsType[*holdfast.HeldError](err); !ok {
		t.Errorf("error is %#v, want a *HeldError", err)
	}
	mustBe(t, err, holdfast.ErrNotAcquired)
	mustNotBe(t, err, context.DeadlineExceeded, holdfast.ErrCanceled) // no ctx ended

	for _, d := range []time.Duration{0, -time.Hour} {
		_, err := l.Lock(soon(t), holdfast.WaitFor(d))
		held, ok := errors.AsType[*holdfast.HeldError](err)
		if !ok || held.Owner.String() != stranger || held.TTL < 30*time.Second {
			t.Errorf("WaitFor(%v): %v, want an attempt's verdict", d, err)
		}
	}
	_, err = l.LockAsync(soon(t), holdfast.WaitFor(200*time.Millisecond)).Get(soon(t))
	mustBe(t, err, holdfast.ErrNotAcquired)

	free := rt.Lock("free")
	h := mustLock(t, free, holdfast.WaitFor(200*time.Millisecond))
	none := mustLock(t, rt.Lock("free too"), holdfast.WaitFor(0))
	time.Sleep(lease + lease/4)
	for _, h := range []*holdfast.Hold{h, none} {
		if h.Context().Err() != nil {
			t.Errorf("the bound of the wait ended the hold: %v", context.Cause(h.Context()))
		}
		r.mustHold(h.Name(), h.Owner(), "1", lease)
	}
}

// A lock that becomes free within WaitFor is had.
func TestWaitForIsLongEnough(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 5*time.Second).Lock("n")
	h := mustLock(t, l)
	f := l.LockAsync(soon(t), holdfast.WaitFor(patience))
	waitBehind(t, r, l, 1)
	mustUnlock(t, h)
	mustUnlock(t, mustGet(t, f))
}

// LeaseFor: no watchdog; the hold ends by itself, and says so.
func TestLeaseForEnds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	lost := &losses{}
	rt := newRuntime(t, s, 300*time.Millisecond, holdfast.WithOnLost(lost.add)) // a watchdog would be busy
	const lease = 1500 * time.Millisecond
	start := time.Now()
	h := mustLock(t, rt.Lock("n"), holdfast.LeaseFor(lease))
	granted := time.Now()
	if ttl := r.ttl("n"); ttl <= 300*time.Millisecond || ttl > lease {
		t.Errorf("PTTL is %v, want the lease %v", ttl, lease)
	}
	mustEnd(t, h.Context(), holdfast.ErrLost)
	if after, early := time.Since(granted), time.Since(start); after > lease+250*time.Millisecond || early < lease/2 {
		t.Errorf("ended %v after the grant, the lease was %v", after, lease)
	}
	if h.ValidFor() != 0 {
		t.Errorf("ValidFor is %v", h.ValidFor())
	}
	eventually(t, "the key is gone", func() bool { return !r.exists("n") })
	eventually(t, "OnLost", func() bool { return len(lost.list()) == 1 })
	if i := lost.list()[0]; i.Reason != "expired" || i.Owner != h.Owner() || i.Err != nil {
		t.Errorf("OnLost was told %+v", i)
	}
}
