package holdfast_test

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// ForceUnlock frees a lock whoever holds it, tells the holder, and wakes waiters.
func TestForceUnlock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const long, short = 30 * time.Second, 1500 * time.Millisecond
	lost := &losses{}
	rt, other := newRuntime(t, s, long, holdfast.WithOnLost(lost.add)), newRuntime(t, s, short)
	force := func(l *holdfast.Lock, want bool) {
		t.Helper()
		if did, err := l.ForceUnlock(soon(t)); did != want || err != nil {
			t.Fatalf("ForceUnlock: %v %v, want %v", did, err, want)
		}
	}
	l := rt.Lock("n")
	force(l, false)

	h := mustLock(t, l)
	inner := mustLock(t, l, holdfast.As(h.Owner()))
	f := l.LockAsync(soon(t))
	waitBehind(t, r, l, 1)
	force(l, true)
	mustEnd(t, h.Context(), holdfast.ErrLost)
	mustEnd(t, inner.Context(), holdfast.ErrLost)
	mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
	next := mustGet(t, f)
	r.mustHold("n", next.Owner(), "1", long)
	eventually(t, "OnLost", func() bool { return len(lost.list()) == 2 })
	for _, i := range lost.list() {
		if i.Reason != "force_unlocked" || i.Owner != h.Owner() {
			t.Errorf("OnLost was told %+v", i)
		}
	}
	mustUnlock(t, next)

	remote := mustLock(t, other.Lock("n"))
	f = l.LockAsync(soon(t))
	waitBehind(t, r, l, 1)
	if did := mustGet(t, l.ForceUnlockAsync()); !did {
		t.Error("ForceUnlockAsync found nothing")
	}
	next = mustGet(t, f)
	mustEnd(t, remote.Context(), holdfast.ErrLost) // by its next renewal
	r.mustHold("n", next.Owner(), "1", long)

	r.foreign("java", stranger, "2", "60000")
	force(rt.Lock("java"), true)
	if r.exists("java") {
		t.Error("the Redisson hash is still there")
	}
	s.MustDo("SET", "string", "s")
	force(rt.Lock("string"), true) // as Redisson's does, whatever the type
	if r.exists("string") {
		t.Error("the string is still there")
	}
}
