package interop

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// surprises: what Redisson does that a Java programmer may not expect, or that
// depends on its version, and what holdfast does instead. Each is a row of the
// table in docs/REDISSON.md.
func (s *scene) surprises(t *testing.T) {
	for name, f := range map[string]func(*testing.T) string{
		"surprise: lease of zero":          s.zeroLease,
		"surprise: shorter re-entry":       s.shorterReentry,
		"surprise: lease over watchdog":    s.leaseOverWatchdog,
		"surprise: another thread's lease": s.sharedLease,
		"surprise: lease that stays":       s.stayingLease,
	} {
		s.row(t, name, atOnce, func(t *testing.T) string {
			t.Parallel()
			return f(t)
		})
	}
}

// Before 3.17.1 a lease of 0 reaches PEXPIRE: "acquired", and nothing is held.
// holdfast refuses it.
func (s *scene) zeroLease(t *testing.T) string {
	const name = "surprise:zero"
	java := s.java.thread(name)
	if !java.is(t, "tryLockZeroLease", name, request{}) {
		t.Fatal("Java does not get a free lock")
	}
	held := s.integer(t, "EXISTS", name) == 1
	if want := s.atLeast("3.17.1"); held != want {
		t.Fatalf("tryLock(0, 0) says acquired; held on the server: %v, want %v", held, want)
	}
	if _, err := s.slow.Lock(name).TryLock(bounded(t), holdfast.LeaseFor(0)); !errors.Is(err, holdfast.ErrInvalidLease) {
		t.Fatalf("LeaseFor(0): %v", err)
	}
	if !held {
		return "Java: acquired, but nothing is held"
	}
	java.must(t, "unlock", name, request{})
	return "Java: the watchdog"
}

// A re-entry sets the TTL to its own lease in every version, also to a shorter
// one. In holdfast the longest lease of the owner's levels counts.
func (s *scene) shorterReentry(t *testing.T) string {
	const name, longer, shorter = "surprise:shorter", 25 * time.Second, 5 * time.Second
	java := s.java.thread(name)
	java.must(t, "lock", name, request{Lease: ms(longer)})
	java.must(t, "lock", name, request{Lease: ms(shorter)})
	if ttl := s.integer(t, "PTTL", name); ttl > ms(shorter) {
		t.Errorf("Java's TTL is %d ms after a re-entry for %v", ttl, shorter)
	}
	java.must(t, "unlock", name, request{})
	java.must(t, "unlock", name, request{})

	owner := s.slow.NewOwner()
	outer := hold(t, s.slow, name, holdfast.As(owner), holdfast.LeaseFor(longer))
	inner := hold(t, s.slow, name, holdfast.As(owner), holdfast.LeaseFor(shorter))
	if ttl := s.integer(t, "PTTL", name); ttl <= ms(shorter) {
		t.Errorf("Go's TTL is %d ms after a re-entry for %v in a hold for %v", ttl, shorter, longer)
	}
	unlock(t, inner)
	unlock(t, outer)
	return "Java: the last lease; Go: the longest"
}

// lock(), then lock(lease) by the same thread, then one unlock: in no version does
// the watchdog go on for the level that asked for it. In holdfast it does.
func (s *scene) leaseOverWatchdog(t *testing.T) string {
	const name, lease = "surprise:mixed", 2 * watchdog
	java := s.java.thread(name)
	java.must(t, "lock", name, request{})
	java.must(t, "lock", name, request{Lease: ms(lease)})
	java.must(t, "unlock", name, request{})
	time.Sleep(lease + watchdog)
	if s.integer(t, "EXISTS", name) == 1 {
		t.Fatalf("Redisson %s goes on renewing: docs/REDISSON.md says that no version does", s.version)
	}

	owner := s.brisk.NewOwner()
	outer := hold(t, s.brisk, name, holdfast.As(owner))
	inner := hold(t, s.brisk, name, holdfast.As(owner), holdfast.LeaseFor(lease))
	unlock(t, inner)
	time.Sleep(lease + watchdog)
	if outer.ValidFor() == 0 || s.integer(t, "EXISTS", name) == 0 {
		t.Error("Go's outer level ended without its watchdog")
	}
	unlock(t, outer)
	return "Java: lost, without a word; Go: renewed"
}

// Threads that share an RLock object share its last lease.
func (s *scene) sharedLease(t *testing.T) string {
	const name, longer, shorter = "surprise:shared", 25 * time.Second, 2 * time.Second
	java, other := s.java.thread(name), s.java.thread(name+":other")
	java.must(t, "lock", name, request{Lease: ms(longer)})
	java.must(t, "lock", name, request{Lease: ms(longer)})
	if other.is(t, "tryLock", name, request{Wait: 1, Lease: ms(shorter)}) {
		t.Fatal("another thread got the lock")
	}
	java.must(t, "unlock", name, request{})
	ttl := s.integer(t, "PTTL", name)
	java.must(t, "unlock", name, request{})
	if stranger, want := ttl <= ms(shorter), !s.atLeast("3.27.2"); stranger != want {
		t.Fatalf("after a stranger's attempt for %v and a partial unlock, the TTL is %d ms", shorter, ttl)
	}
	if ttl <= ms(shorter) {
		return "Java: a stranger's attempt cut the TTL"
	}
	return "Java: the holder's own lease"
}

// An RLock object of an old version keeps its last explicit lease: later, a lock()
// without one holds for that long, and is renewed every third of it. holdfast's
// handles have no memory.
func (s *scene) stayingLease(t *testing.T) string {
	const name = "surprise:stays"
	java := s.java.thread(name)
	java.must(t, "lock", name, request{Lease: ms(long)})
	java.must(t, "unlock", name, request{})
	java.must(t, "lock", name, request{})
	ttl := s.integer(t, "PTTL", name)
	java.must(t, "unlock", name, request{})
	if stays, want := ttl > ms(watchdog), !s.atLeast("3.27.2"); stays != want {
		t.Fatalf("lock() after an unlocked lock(%v): TTL %d ms", long, ttl)
	}

	l := s.brisk.Lock(name)
	h, err := l.Lock(bounded(t), holdfast.LeaseFor(long))
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, h)
	if h, err = l.Lock(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if ttl := s.integer(t, "PTTL", name); ttl > ms(watchdog) {
		t.Fatalf("Go's Lock after an unlocked LeaseFor(%v): TTL %d ms", long, ttl)
	}
	unlock(t, h)
	if ttl > ms(watchdog) {
		return "Java: lock() takes the last explicit lease"
	}
	return "Java: lock() takes the watchdog's"
}
