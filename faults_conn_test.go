package holdfast_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Connections break: rows 5, 11, 21 and 28. A hold survives what is shorter than
// its lease (V4), a waiter is not forgotten (V3), and no count is 2 by accident (S5).
func TestConnectionsBreak(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second
	breaks := map[string]func(s *redistest.Server, p *redistest.Proxy){
		"CLIENT KILL TYPE normal": func(s *redistest.Server, _ *redistest.Proxy) {
			s.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		},
		"CLIENT KILL TYPE pubsub": func(s *redistest.Server, _ *redistest.Proxy) {
			s.Do("CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes")
		},
		"cut": func(_ *redistest.Server, p *redistest.Proxy) { p.Cut() },
	}
	for name, cut := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			r := raw{t, s}
			p := redistest.NewProxy(t, s.Addr())
			rt, other := newRuntimeAt(t, p.Addr(), lease), newRuntimeAt(t, p.Addr(), lease)
			h := mustLock(t, rt.Lock("n"))
			here, there := rt.Lock("n").LockAsync(soon(t)), other.Lock("n").LockAsync(soon(t))
			waitBehind(t, r, rt.Lock("n"), 1)
			for end := time.Now().Add(lease + lease/3); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				cut(s, p)
				if cause := context.Cause(h.Context()); cause != nil {
					t.Fatalf("hold ended: %v", cause)
				}
				r.mustHold("n", h.Owner(), "1", lease)
			}
			if here.IsDone() || there.IsDone() {
				t.Fatal("a waiter was granted while the lock was held")
			}
			f := h.UnlockAsync()
			cut(s, p)
			if _, err := f.Get(soon(t)); err != nil {
				t.Fatalf("Unlock: %v", err)
			}
			cut(s, p)
			granted := 0 // whose turn it is first is not promised across runtimes
			for _, f := range future.Completed(soon(t), here, there) {
				next := mustGet(t, f)
				r.mustHold("n", next.Owner(), "1", lease)
				mustUnlock(t, next)
				granted++
			}
			if granted != 2 {
				t.Errorf("%d of 2 waiters were granted", granted)
			}
			if r.exists("n") {
				t.Error("key left")
			}
		})
	}
}

// Row 6: cut off for longer than the lease. The holder on the wrong side is told
// before somebody else can have the lock.
func TestPartitionLongerThanTheLease(t *testing.T) {
	t.Parallel()
	const lease = 1500 * time.Millisecond
	s := redistest.Start(t)
	r := raw{t, s}
	p := redistest.NewProxy(t, s.Addr())
	cutOff, other := newRuntimeAt(t, p.Addr(), lease), newRuntime(t, s, lease)
	h := mustLock(t, cutOff.Lock("n"))
	f := other.Lock("n").LockAsync(soon(t))
	waitBehind(t, r, other.Lock("n"), 1)
	p.SetMode(redistest.Blackhole)
	next := mustGet(t, f)
	if h.ValidFor() != 0 {
		t.Error("the cut-off hold is called valid while another owner has the lock (S1)")
	}
	mustEnd(t, h.Context(), holdfast.ErrLost)
	p.Release()
	mustBe(t, h.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
	r.mustHold("n", next.Owner(), "1", lease)
	mustUnlock(t, next)
	mustUnlock(t, mustLock(t, cutOff.Lock("n"))) // healed
}

// Row 21: SCRIPT FLUSH between any two commands of a session changes nothing.
func TestScriptFlush(t *testing.T) {
	t.Parallel()
	const lease = 1800 * time.Millisecond
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, lease)
	l := rt.Lock("n")
	flush := func() { t.Helper(); s.MustDo("SCRIPT", "FLUSH", "SYNC") }
	flush()
	h := mustLock(t, l)
	flush()
	again := mustLock(t, l, holdfast.As(h.Owner()))
	r.mustHold("n", h.Owner(), "2", lease)
	flush()
	if err := h.Extend(soon(t), lease); err != nil {
		t.Fatalf("Extend: %v", err)
	}
	flush()
	mustUnlock(t, again)
	for end := time.Now().Add(2 * lease); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		flush() // renewals find no script, ever
	}
	r.mustHold("n", h.Owner(), "1", lease)
	flush()
	if st, err := l.Inspect(soon(t)); err != nil || st.Owner != h.Owner() {
		t.Fatalf("Inspect: %+v %v", st, err)
	}
	f := l.LockAsync(soon(t))
	flush()
	mustUnlock(t, h)
	next := mustGet(t, f)
	r.mustHold("n", next.Owner(), "1", lease)
	flush()
	mustUnlock(t, next)
	flush()
	if next, err := l.TryLock(soon(t)); err != nil || next.Count() != 1 {
		t.Fatalf("TryLock: %v", err)
	}
	flush()
	if ok, err := l.ForceUnlock(soon(t)); !ok || err != nil {
		t.Fatalf("ForceUnlock: %v %v", ok, err)
	}
	if r.exists("n") {
		t.Error("key left")
	}
}
