package holdfast_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// A holder is told the truth: S4, S6, S7, fault matrix rows 13, 14 and 26.

// Row 26: an operator deletes the key. The holder is told within the lease, OnLost
// is called once, and the waiter gets the lock.
func TestKeyDeletedWhileHeld(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1500 * time.Millisecond
	lost := &losses{}
	rt, other := newRuntime(t, s, lease, holdfast.WithOnLost(lost.add)), newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	f := other.Lock("n").LockAsync(soon(t))
	waitBehind(t, r, other.Lock("n"), 1)
	s.MustDo("DEL", "n")
	start := time.Now()
	mustEnd(t, h.Context(), holdfast.ErrLost)
	if took := time.Since(start); took > lease+500*time.Millisecond {
		t.Errorf("told after %v, the lease is %v", took, lease)
	}
	next := mustGet(t, f)
	r.mustHold("n", next.Owner(), "1", lease)
	mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
	mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld)
	r.mustHold("n", next.Owner(), "1", lease) // S4: the late unlock touched nothing
	if err := rt.Close(soon(t)); err != nil { // waits for the hooks
		t.Fatalf("Close: %v", err)
	}
	if got := lost.list(); len(got) != 1 || got[0].Name != "n" || got[0].Owner != h.Owner() || got[0].Count != 1 || got[0].Reason != "gone" {
		t.Errorf("OnLost was told %+v", got)
	}
}

// S4, S6: somebody else's hash lies under the name. The holder is told, its Unlock
// changes nothing, and neither does its watchdog.
func TestKeyTakenOver(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1500 * time.Millisecond
	rt := newRuntime(t, s, lease)
	untouched := func(name string) {
		t.Helper()
		if got := r.fields(name); len(got) != 1 || got[stranger] != "4" {
			t.Fatalf("the stranger's hash is now %v", got)
		}
		if ttl := r.ttl(name); ttl <= 30*time.Second {
			t.Fatalf("the stranger's lease is now %v", ttl)
		}
	}
	t.Run("found by the unlock", func(t *testing.T) {
		h := mustLock(t, rt.Lock("a"))
		r.foreign("a", stranger, "4", "60000")
		mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
		untouched("a")
	})
	t.Run("found by the watchdog", func(t *testing.T) {
		h := mustLock(t, rt.Lock("b"))
		r.foreign("b", stranger, "4", "60000")
		mustEnd(t, h.Context(), holdfast.ErrLost)
		mustBe(t, h.Extend(soon(t), time.Minute), holdfast.ErrNotHeld)
		mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
		untouched("b")
	})
	t.Run("found by a re-entry", func(t *testing.T) {
		h := mustLock(t, rt.Lock("c"))
		r.foreign("c", stranger, "4", "60000")
		_, err := rt.Lock("c").TryLock(h.Context())
		mustBe(t, err, holdfast.ErrNotAcquired)
		mustEnd(t, h.Context(), holdfast.ErrLost)
		untouched("c")
	})
	t.Run("the key is no lock any more", func(t *testing.T) {
		h := mustLock(t, rt.Lock("d"))
		s.MustDo("SET", "d", "mine")
		mustEnd(t, h.Context(), holdfast.ErrLost)
		if got, _ := s.MustDo("GET", "d").ToString(); got != "mine" {
			t.Fatalf("the string is now %q", got)
		}
	})
}

// S2, S7 and row 13: Redis freezes for longer than the lease. The hold ends by
// itself and in time, and after the thaw the waiter gets the lock.
func TestFrozenLongerThanTheLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 2 * time.Second
	lost := &losses{}
	rt, other := newRuntime(t, s, lease, holdfast.WithOnLost(lost.add)), newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	f := other.Lock("n").LockAsync(soon(t))
	waitBehind(t, r, other.Lock("n"), 1)
	s.Pause()
	sent := time.Now() // nothing is acknowledged from here on
	if at := time.Now().Add(h.ValidFor()); at.After(sent.Add(lease)) {
		t.Errorf("the hold is called valid until %v after the last command could have been sent, lease %v", at.Sub(sent), lease)
	}
	mustEnd(t, h.Context(), holdfast.ErrLost)
	if took := time.Since(sent); took > lease+250*time.Millisecond {
		t.Errorf("told %v after the freeze, the lease is %v", took, lease)
	}
	if h.ValidFor() != 0 {
		t.Errorf("ValidFor is %v after the loss", h.ValidFor())
	}
	time.Sleep(time.Until(sent.Add(lease + lease/4)))
	if f.IsDone() {
		t.Error("the waiter was told something while Redis was frozen")
	}
	s.Resume()
	next := mustGet(t, f)
	r.mustHold("n", next.Owner(), "1", lease)
	mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
	eventually(t, "OnLost", func() bool { return len(lost.list()) > 0 })
	if i := lost.list()[0]; i.Reason != "expired" {
		t.Errorf("OnLost was told %+v", i)
	}
	time.Sleep(lease) // whatever was under way has arrived
	r.mustHold("n", next.Owner(), "1", lease)
	if next.Context().Err() != nil {
		t.Errorf("the new holder lost it: %v", context.Cause(next.Context()))
	}
}

// S2: the local deadline is before the server's, by which the lock can go to
// somebody else. Each sample bounds both from the outside; one good one is enough.
func TestDeadlineIsBeforeTheServers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 10*time.Second)
	h := mustLock(t, rt.Lock("n"))
	var gaps []time.Duration
	for range 30 {
		before := time.Now()
		ttl := r.ttl("n") // the key lives at least until before+ttl
		local := h.ValidFor()
		gap := before.Add(ttl).Sub(time.Now().Add(local)) // and the hold at most until now+local
		if gaps = append(gaps, gap); gap > 0 {
			return
		}
	}
	t.Errorf("the hold is called valid for longer than its key lives, by %v at least", slices.Max(gaps))
}

// Row 12: Redis freezes for less than two thirds of the lease. The hold survives (V4).
func TestFrozenForAMoment(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 6 * time.Second
	rt := newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	s.Pause()
	time.Sleep(2500 * time.Millisecond) // a renewal falls due after two seconds
	s.Resume()
	time.Sleep(lease - 2500*time.Millisecond + 500*time.Millisecond) // past the first lease
	if cause := context.Cause(h.Context()); cause != nil {
		t.Fatalf("lost: %v", cause)
	}
	r.mustHold("n", h.Owner(), "1", lease)
	mustUnlock(t, h)
}

// Row 14: the server dies and comes back empty. The holder is told, and the name
// is free for everybody.
func TestServerRestartsEmpty(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 3 * time.Second
	rt := newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	s.Kill()
	died := time.Now()
	_, err := rt.Lock("other").TryLock(soon(t))
	mustBe(t, err, holdfast.ErrUnavailable)
	mustNotBe(t, err, holdfast.ErrNotAcquired)
	s.Restart()
	mustEnd(t, h.Context(), holdfast.ErrLost)
	if took := time.Since(died); took > lease+500*time.Millisecond {
		t.Errorf("told after %v, the lease is %v", took, lease)
	}
	next := mustLock(t, rt.Lock("n"))
	r.mustHold("n", next.Owner(), "1", lease)
	mustUnlock(t, next)
}

// A watched lock is looked at every third of the watchdog timeout, also while its
// lease is far longer: a key that was taken away is not believed in for a minute.
func TestLongLeaseStillFindsOut(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	const watchdog = 900 * time.Millisecond
	h := mustLock(t, newRuntime(t, s, watchdog).Lock("n"))
	if err := h.Extend(soon(t), 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * watchdog)
	if left := h.ValidFor(); left < 9*time.Minute {
		t.Errorf("renewals left %v of ten minutes", left)
	}
	s.MustDo("DEL", "n")
	select {
	case <-h.Lost():
	case <-time.After(20 * watchdog):
		t.Fatalf("still believed in, for another %v", h.ValidFor())
	}
}
