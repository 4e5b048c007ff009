package holdfast_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// What a Hold promises: design section 5, S4, S6.

// Each Hold is one Unlock; Close is nil any number of times.
func TestUnlockOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 5*time.Second)
	l := rt.Lock("n")

	h := mustLock(t, l)
	mustUnlock(t, h)
	next := mustLock(t, l)
	mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld)
	mustNotBe(t, h.Unlock(soon(t)), holdfast.ErrLost)
	_, err := h.UnlockAsync().Get(soon(t))
	mustBe(t, err, holdfast.ErrNotHeld)
	if err := h.Close(); err != nil {
		t.Errorf("Close after Unlock: %v", err)
	}
	r.mustHold("n", next.Owner(), "1", 5*time.Second) // S4

	// The same of two levels of one owner: the second Unlock of one level must not
	// take the other's.
	inner := mustLock(t, l, holdfast.As(next.Owner()))
	mustUnlock(t, inner)
	mustBe(t, inner.Unlock(soon(t)), holdfast.ErrNotHeld)
	r.mustHold("n", next.Owner(), "1", 5*time.Second)

	for range 3 {
		if err := next.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	mustBe(t, next.Unlock(soon(t)), holdfast.ErrNotHeld)
	if r.exists("n") {
		t.Error("key left")
	}
}

// Close does not need a live ctx, and says once that the hold had been lost.
func TestClose(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, time.Second).Lock("n")
	ctx, cancel := context.WithCancel(context.Background())
	h, err := l.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := h.Close(); err != nil || r.exists("n") {
		t.Errorf("Close after the ctx ended: %v, exists %v", err, r.exists("n"))
	}
	h = mustLock(t, l)
	s.MustDo("DEL", "n")
	mustEnd(t, h.Context(), holdfast.ErrLost)
	mustBe(t, h.Close(), holdfast.ErrNotHeld, holdfast.ErrLost)
	if err := h.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// Unlock goes on when its ctx ends: the ctx bounds the waiting for the answer.
func TestUnlockWithAnEndedCtx(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	h := mustLock(t, newRuntime(t, s, 30*time.Second).Lock("n"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Unlock(ctx); err != nil {
		mustBe(t, err, context.Canceled)
	}
	until(t, 10*time.Second, "the key is gone, long before its lease", func() bool { return !r.exists("n") })
	mustEnd(t, h.Context(), holdfast.ErrReleased)
}

func TestExtend(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1500 * time.Millisecond
	rt := newRuntime(t, s, lease)

	t.Run("longer than the watchdog, which does not shorten it", func(t *testing.T) {
		h := mustLock(t, rt.Lock("a"))
		if err := h.Extend(soon(t), time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lease)
		if ttl, v := r.ttl("a"), h.ValidFor(); ttl < 50*time.Second || v < 50*time.Second || v > time.Minute {
			t.Errorf("PTTL %v, ValidFor %v after Extend(1m)", ttl, v)
		}
		if err := h.Extend(soon(t), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if ttl, v := r.ttl("a"), h.ValidFor(); ttl < 50*time.Second || v < 50*time.Second {
			t.Errorf("PTTL %v, ValidFor %v: Extend(20ms) shortened it", ttl, v)
		}
		again := mustLock(t, rt.Lock("a"), holdfast.As(h.Owner()), holdfast.LeaseFor(50*time.Millisecond))
		if ttl := r.ttl("a"); ttl < 50*time.Second {
			t.Errorf("PTTL %v: a re-entry shortened it", ttl)
		}
		mustUnlock(t, again)
		if ttl := r.ttl("a"); ttl < 40*time.Second {
			t.Errorf("PTTL %v: a partial unlock shortened it", ttl)
		}
		mustUnlock(t, h)
		mustBe(t, h.Extend(soon(t), time.Minute), holdfast.ErrNotHeld)
		if r.exists("a") {
			t.Error("key left")
		}
	})
	t.Run("of a fixed lease", func(t *testing.T) {
		h := mustLock(t, rt.Lock("b"), holdfast.LeaseFor(lease))
		if err := h.Extend(soon(t), 5*lease); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * lease)
		if h.Context().Err() != nil || h.ValidFor() <= 0 {
			t.Fatalf("ended: %v", context.Cause(h.Context()))
		}
		r.mustHold("b", h.Owner(), "1", 5*lease)
		mustEnd(t, h.Context(), holdfast.ErrLost) // and still no watchdog
		mustBe(t, h.Extend(soon(t), lease), holdfast.ErrNotHeld, holdfast.ErrLost)
	})
	t.Run("by a lease that is none", func(t *testing.T) {
		h := mustLock(t, rt.Lock("c"))
		for _, d := range []time.Duration{0, -5, 9900 * time.Microsecond, math.MaxInt64} {
			mustBe(t, h.Extend(soon(t), d), holdfast.ErrInvalidLease)
		}
		r.mustHold("c", h.Owner(), "1", lease)
		mustUnlock(t, h)
	})
}

// A lease belongs to the owner: the longest of its levels' leases counts, and the
// watchdog runs while any level has none.
func TestLevelsShareTheLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1500 * time.Millisecond
	rt := newRuntime(t, s, lease)
	fixed := mustLock(t, rt.Lock("n"), holdfast.LeaseFor(lease))
	watched := mustLock(t, rt.Lock("n"), holdfast.As(fixed.Owner()))
	time.Sleep(2 * lease)
	if fixed.Context().Err() != nil {
		t.Fatalf("the fixed level ended while the watchdog ran: %v", context.Cause(fixed.Context()))
	}
	r.mustHold("n", fixed.Owner(), "2", lease)
	mustUnlock(t, watched)
	mustEnd(t, fixed.Context(), holdfast.ErrLost) // nobody renews any more
	eventually(t, "the key is gone", func() bool { return !r.exists("n") })
}

// Lost and Context tell one end from the other, whenever they are asked.
func TestEndsAreTold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, time.Second)
	isClosed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	t.Run("unlock", func(t *testing.T) {
		h := mustLock(t, rt.Lock("a"))
		before := h.Lost()
		if h.ValidFor() <= 0 || h.Token() != 0 {
			t.Errorf("ValidFor %v, Token %d", h.ValidFor(), h.Token())
		}
		mustUnlock(t, h)
		mustEnd(t, h.Context(), holdfast.ErrReleased) // asked for after the end
		if isClosed(before) || isClosed(h.Lost()) || h.ValidFor() != 0 {
			t.Errorf("unlocked is not lost; ValidFor %v", h.ValidFor())
		}
	})
	t.Run("unlock ends the context at once", func(t *testing.T) {
		h := mustLock(t, rt.Lock("b"))
		ctx := h.Context()
		f := h.UnlockAsync()
		if context.Cause(ctx) != holdfast.ErrReleased || h.ValidFor() != 0 || h.Context() != ctx {
			t.Errorf("right after UnlockAsync: cause %v, ValidFor %v", context.Cause(ctx), h.ValidFor())
		}
		mustGet(t, f)
	})
	t.Run("loss", func(t *testing.T) {
		h := mustLock(t, rt.Lock("c"))
		ctx, before := h.Context(), h.Lost()
		s.MustDo("DEL", "c")
		<-before
		mustEnd(t, ctx, holdfast.ErrLost)
		if !isClosed(h.Lost()) || h.ValidFor() != 0 {
			t.Errorf("ValidFor %v", h.ValidFor())
		}
	})
	t.Run("loss that nobody asked about before", func(t *testing.T) {
		h := mustLock(t, rt.Lock("d"))
		s.MustDo("DEL", "d")
		eventually(t, "ValidFor is 0", func() bool { return h.ValidFor() == 0 })
		mustEnd(t, h.Context(), holdfast.ErrLost)
		eventually(t, "Lost is closed", func() bool { return isClosed(h.Lost()) })
	})
}
