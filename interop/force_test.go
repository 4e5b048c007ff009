package interop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// force: each side may end the other's hold. Go's holder is told, Java's cannot
// be; the waiters of both sides wake.
func (s *scene) force(t *testing.T) {
	s.row(t, "forced unlock", javaGo, func(t *testing.T) string {
		t.Parallel()
		const name = "force:go"
		java := s.java.thread("force:go")
		told := make(chan holdfast.LostInfo, 1)
		rt := s.runtime(t, holdfast.WithWatchdogTimeout(watchdog), holdfast.WithOnLost(func(i holdfast.LostInfo) { told <- i }))
		h := hold(t, rt, name)
		if !java.is(t, "forceUnlock", name, request{}) {
			t.Fatal("Java had nothing to force")
		}
		for what, c := range map[string]<-chan struct{}{"Lost": h.Lost(), "Context": h.Context().Done()} {
			select {
			case <-c:
			case <-time.After(patience):
				t.Fatalf("%s does not tell", what)
			}
		}
		if cause := context.Cause(h.Context()); !errors.Is(cause, holdfast.ErrLost) {
			t.Fatalf("cause %v", cause)
		}
		select {
		case i := <-told:
			if i.Name != name || i.Owner != h.Owner() {
				t.Fatalf("OnLost: %+v", i)
			}
		case <-time.After(patience):
			t.Fatal("OnLost was not called")
		}
		if err := h.Unlock(bounded(t)); !errors.Is(err, holdfast.ErrNotHeld) {
			t.Fatalf("unlock of what was forced: %v", err)
		}
		time.Sleep(watchdog)
		s.free(t, name) // nothing brings it back
		if java.is(t, "forceUnlock", name, request{}) {
			t.Fatal("Java forced a free lock")
		}
		return "Go is told by its next renewal"
	})

	s.row(t, "forced unlock", goJava, func(t *testing.T) string {
		t.Parallel()
		const name = "force:java"
		java := s.java.thread("force:java")
		java.must(t, "lock", name, request{})
		if ok, err := s.slow.Lock(name).ForceUnlock(bounded(t)); err != nil || !ok {
			t.Fatalf("ForceUnlock = %v, %v", ok, err)
		}
		time.Sleep(2 * watchdog)
		s.free(t, name) // Java's watchdog does not bring it back
		if java.is(t, "isHeldByThread", name, request{}) {
			t.Fatal("Java thinks that it still holds the lock")
		}
		java.refused(t, name)
		if ok, err := s.slow.Lock(name).ForceUnlock(bounded(t)); err != nil || ok {
			t.Fatalf("ForceUnlock of a free lock = %v, %v", ok, err)
		}
		return "Java learns of it by its unlock"
	})

	s.row(t, "forced unlock wakes", javaGo, func(t *testing.T) string {
		t.Parallel()
		const name = "force:wakes:java"
		s.forceWakes(t, name, func() {
			if !s.java.thread("force").is(t, "forceUnlock", name, request{}) {
				t.Fatal("nothing to force")
			}
		})
		return ""
	})

	s.row(t, "forced unlock wakes", goJava, func(t *testing.T) string {
		t.Parallel()
		const name = "force:wakes:go"
		s.forceWakes(t, name, func() {
			if ok, err := s.slow.Lock(name).ForceUnlock(bounded(t)); err != nil || !ok {
				t.Fatalf("ForceUnlock = %v, %v", ok, err)
			}
		})
		return ""
	})
}

// forceWakes: a waiter on either side; the forced unlock wakes one of them, whose
// unlock wakes the other, all of it long before any lease or poll would.
func (s *scene) forceWakes(t *testing.T, name string, force func()) {
	t.Helper()
	holder, waiter := s.java.thread(name+" holder"), s.java.thread(name+" waiter")
	holder.must(t, "lock", name, request{Lease: ms(long)})
	java := waiter.send("lock", name, request{Lease: ms(long)})
	goes := s.slow.Lock(name).LockAsync(bounded(t), holdfast.LeaseFor(long))
	s.listeners(t, name, 2)
	time.Sleep(5 * settle)

	force()
	granted := goes.Done()
	for range 2 {
		select {
		case r := <-java:
			if !r.OK {
				t.Fatalf("Java's lock: %+v", r)
			}
			java = nil
			waiter.must(t, "unlock", name, request{})
		case <-granted:
			granted = nil
			h, err := goes.Get(bounded(t))
			if err != nil {
				t.Fatal(err)
			}
			unlock(t, h)
		case <-time.After(asleep):
			t.Fatal("a waiter was not woken")
		}
	}
}
