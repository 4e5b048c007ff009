package interop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// leases: an explicit lease ends by itself, nobody renews it, the other side's
// waiter takes over, and the old holder finds out.
func (s *scene) leases(t *testing.T) {
	const lease = 2 * watchdog

	s.row(t, "lease", goJava, func(t *testing.T) string {
		t.Parallel()
		const name = "lease:go"
		java := s.java.thread("lease:go")
		h := hold(t, s.brisk, name, holdfast.LeaseFor(lease))
		end := s.deadline(t, name)
		waiting := java.send("lock", name, request{Lease: ms(long)})
		r := await(t, "Java's lock", waiting)
		late := inTime(t, end)
		if !r.OK {
			t.Fatalf("Java's lock: %+v", r)
		}
		select {
		case <-h.Lost():
		default:
			t.Error("Java has the lock, and Go's hold was not told")
		}
		if cause := context.Cause(h.Context()); !errors.Is(cause, holdfast.ErrLost) {
			t.Errorf("the hold's context ended with %v", cause)
		}
		if err := h.Unlock(bounded(t)); !errors.Is(err, holdfast.ErrNotHeld) {
			t.Errorf("unlock after the lease: %v", err)
		}
		if st := inspect(t, s.slow, name); st.Owner != java.owner(t) {
			t.Errorf("held by %s after that unlock", st.Owner)
		}
		java.must(t, "unlock", name, request{})
		return late
	})

	s.row(t, "lease", javaGo, func(t *testing.T) string {
		t.Parallel()
		const name = "lease:java"
		java := s.java.thread("lease:java")
		java.must(t, "lock", name, request{Lease: ms(lease)})
		end := s.deadline(t, name)
		h := hold(t, s.slow, name, holdfast.LeaseFor(long))
		late := inTime(t, end)
		if java.is(t, "isHeldByThread", name, request{}) {
			t.Error("Java thinks that it still holds the lock")
		}
		java.refused(t, name)
		if h.ValidFor() == 0 {
			t.Error("Java's late unlock ended Go's hold")
		}
		unlock(t, h)
		return late
	})
}

// inTime checks a takeover that has just happened against the end of the lease
// before it: not earlier, and not later than a second.
func inTime(t *testing.T, end time.Time) (note string) {
	t.Helper()
	// Redis counts whole milliseconds.
	late := time.Since(end)
	if late < -2*time.Millisecond {
		t.Fatalf("taken over %v before the end of the lease", -late)
	}
	if late > time.Second {
		t.Fatalf("taken over %v after the end of the lease", late)
	}
	return "takeover " + late.Round(time.Millisecond).String() + " after the lease"
}
