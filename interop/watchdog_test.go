package interop

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// leasesLong is how many watchdog leases a renewed hold is watched for.
const leasesLong = 20

// watchdogs: each side renews what it holds, and nothing else.
func (s *scene) watchdogs(t *testing.T) {
	s.row(t, "watchdog", goJava, func(t *testing.T) string {
		t.Parallel()
		const name = "watchdog:go"
		h := hold(t, s.brisk, name)
		java := s.java.thread("watchdog:go")
		renewed := s.renewed(t, name, h.Owner(), func() {
			if java.is(t, "tryLock", name, request{}) {
				t.Fatal("Java got what Go's watchdog renews")
			}
		})
		if h.ValidFor() == 0 {
			t.Fatal("Go's hold is over")
		}
		unlock(t, h)
		s.free(t, name)
		return renewed
	})

	s.row(t, "watchdog", javaGo, func(t *testing.T) string {
		t.Parallel()
		const name = "watchdog:java"
		java := s.java.thread("watchdog:java")
		java.must(t, "lock", name, request{})
		renewed := s.renewed(t, name, java.owner(t), func() {
			if _, err := s.brisk.Lock(name).TryLock(bounded(t)); !errors.Is(err, holdfast.ErrNotAcquired) {
				t.Fatalf("Go's attempt at what Java's watchdog renews: %v", err)
			}
		})
		java.must(t, "unlock", name, request{})
		s.free(t, name)
		return renewed
	})

	// A renewal raises a TTL that is below the watchdog timeout and leaves a
	// longer one alone, so the lease has to be watched to its end.
	const lease = 3 * watchdog

	s.row(t, "renews only its own", goJava, func(t *testing.T) string {
		t.Parallel()
		const name = "foreign:java"
		java := s.java.thread("foreign:java")
		h := hold(t, s.brisk, name)
		// The name changes hands without a word, as after a failover that lost it.
		s.integer(t, "DEL", name)
		if !java.is(t, "tryLock", name, request{Lease: ms(lease)}) {
			t.Fatal("Java does not get a name without a key")
		}
		s.untouched(t, name, java.owner(t))
		eventually(t, "Go's hold is lost", func() bool { return h.ValidFor() == 0 })
		if err := h.Unlock(bounded(t)); !errors.Is(err, holdfast.ErrNotHeld) || !errors.Is(err, holdfast.ErrLost) {
			t.Fatalf("Go's unlock of what Java holds by now: %v", err)
		}
		return "lease ended on time"
	})

	s.row(t, "renews only its own", javaGo, func(t *testing.T) string {
		t.Parallel()
		const name = "foreign:go"
		java := s.java.thread("foreign:go")
		java.must(t, "lock", name, request{})
		s.integer(t, "DEL", name)
		h, err := s.slow.Lock(name).TryLock(bounded(t), holdfast.LeaseFor(lease))
		if err != nil {
			t.Fatal(err)
		}
		s.untouched(t, name, h.Owner())
		if h.ValidFor() != 0 {
			t.Error("Go's hold outlives its lease")
		}
		java.refused(t, name) // and this is the first that Java hears of it
		return "lease ended on time"
	})
}

// renewed watches a lock for twenty leases: the owner stays, the deadline never
// comes near and never goes beyond one lease.
func (s *scene) renewed(t *testing.T, name string, owner holdfast.Owner, intrude func()) string {
	t.Helper()
	last, renewals := s.deadline(t, name), 0
	for end, i := time.Now().Add(leasesLong*watchdog), 0; time.Now().Before(end); i++ {
		st := inspect(t, s.slow, name)
		if st.Owner != owner || st.Count != 1 || st.TTL > watchdog {
			t.Fatalf("after %d renewals: %+v, want %s", renewals, st, owner)
		}
		if d := s.deadline(t, name); d.After(last) {
			last = d
			renewals++
		}
		if i%10 == 0 {
			intrude()
		}
		time.Sleep(watchdog / 20)
	}
	// At least one renewal per lease, or the lock would have ended.
	if renewals < leasesLong {
		t.Fatalf("%d renewals in %d leases", renewals, leasesLong)
	}
	return fmt.Sprintf("%d renewals in %d leases", renewals, leasesLong)
}

// untouched watches a lease to its end: the deadline does not move, whatever the
// former holder's watchdog does meanwhile.
func (s *scene) untouched(t *testing.T, name string, owner holdfast.Owner) {
	t.Helper()
	end := s.deadline(t, name)
	if st := inspect(t, s.slow, name); st.Owner != owner {
		t.Fatalf("%s is held by %s, not %s", name, st.Owner, owner)
	}
	for ; ; time.Sleep(watchdog / 50) {
		now := s.integer(t, "PEXPIRETIME", name)
		switch {
		case now == end.UnixMilli():
		case now == -2 && !time.Now().Before(end):
			return
		default:
			t.Fatalf("the deadline of %s moved from %d to %d", name, end.UnixMilli(), now)
		}
	}
}
