package interop

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// queries: what one side says about a lock, the other side says too.
func (s *scene) queries(t *testing.T) {
	const name, lease = "queries", 20 * time.Second
	alice := s.java.thread("queries")

	// agree compares everything that both sides can be asked. Java's getHoldCount
	// and isHeldByThread know only threads of their own client, so a count of
	// Go's is read from the hash.
	agree := func(t *testing.T, owner holdfast.Owner, count int) {
		t.Helper()
		l := s.slow.Lock(name)
		before := alice.number(t, "ttl", name, request{})
		st := inspect(t, s.slow, name)
		left, err := l.RemainingTTL(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		after := alice.number(t, "ttl", name, request{})
		locked, err := l.IsLocked(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		if want := count > 0; st.Locked != want || locked != want || alice.is(t, "isLocked", name, request{}) != want {
			t.Fatalf("count %d: Inspect says locked=%v, IsLocked %v", count, st.Locked, locked)
		}
		if count == 0 {
			if before != -2 || left != 0 || !st.Owner.IsZero() || st.Count != 0 {
				t.Fatalf("free: Java's TTL %d, ours %v, %+v", before, left, st)
			}
			return
		}
		if st.Owner != owner || st.Count != count || st.Foreign != (owner.Runtime() != s.slow.ID()) {
			t.Fatalf("Inspect: %+v, want %d levels of %s", st, count, owner)
		}
		for _, ttl := range []time.Duration{st.TTL, left} {
			if ms(ttl) > before || ms(ttl) < after {
				t.Fatalf("TTL %v is not between Java's %d and %d ms", ttl, after, before)
			}
		}
		n, err := l.HoldCount(bounded(t), owner)
		if err != nil || n != count {
			t.Fatalf("HoldCount(%s) = %d, %v; want %d", owner, n, err, count)
		}
		held, err := l.IsHeldBy(bounded(t), owner)
		if err != nil || !held {
			t.Fatalf("IsHeldBy(%s) = %v, %v", owner, held, err)
		}
		if other, err := l.IsHeldBy(bounded(t), s.slow.NewOwner()); err != nil || other {
			t.Fatalf("IsHeldBy(somebody else) = %v, %v", other, err)
		}
		if got := alice.must(t, "count", name, request{Owner: owner.String()}).Value; got != digits(count) {
			t.Fatalf("Java reads a count of %v for %s, want %d", got, owner, count)
		}
	}

	s.row(t, "queries", goJava, func(t *testing.T) string {
		agree(t, holdfast.Owner{}, 0)
		owner := s.slow.NewOwner()
		for i := 1; i <= 2; i++ {
			hold(t, s.slow, name, holdfast.As(owner), holdfast.LeaseFor(lease))
			agree(t, owner, i)
		}
		if alice.is(t, "isHeldByThread", name, request{}) || alice.number(t, "holdCount", name, request{}) != 0 {
			t.Fatal("Java thinks that it holds what Go holds")
		}
		if !alice.is(t, "forceUnlock", name, request{}) {
			t.Fatal("nothing to force")
		}
		agree(t, holdfast.Owner{}, 0)
		return ""
	})

	s.row(t, "queries", javaGo, func(t *testing.T) string {
		owner := alice.owner(t)
		for i := 1; i <= 2; i++ {
			alice.must(t, "lock", name, request{Lease: ms(lease)})
			agree(t, owner, i)
			if got := alice.number(t, "holdCount", name, request{}); got != int64(i) || !alice.is(t, "isHeldByThread", name, request{}) {
				t.Fatalf("Java's own count is %d, want %d", got, i)
			}
		}
		if s.java.thread("other").is(t, "isHeldByThread", name, request{}) {
			t.Fatal("another Java thread thinks that it holds the lock")
		}
		alice.must(t, "unlock", name, request{})
		agree(t, owner, 1)
		alice.must(t, "unlock", name, request{})
		agree(t, owner, 0)
		return ""
	})
}
