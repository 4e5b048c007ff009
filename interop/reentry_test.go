package interop

import (
	"strconv"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

func digits(n int) string { return strconv.Itoa(n) }

// reentry: one owner enters several times; the other side sees the count, stays
// out until the last level is gone, and the lease survives a partial unlock.
func (s *scene) reentry(t *testing.T) {
	const lease = 20 * time.Second

	s.row(t, "reentrancy", goJava, func(t *testing.T) string {
		t.Parallel()
		const name = "reentry:go"
		alice := s.java.thread("reentry:go")
		outer := hold(t, s.slow, name, holdfast.LeaseFor(lease))
		inner, err := s.slow.Lock(name).Lock(outer.Context(), holdfast.LeaseFor(lease))
		if err != nil {
			t.Fatal(err)
		}
		if inner.Owner() != outer.Owner() || inner.Count() != 2 {
			t.Fatalf("re-entered as %s with a count of %d", inner.Owner(), inner.Count())
		}
		seen := func() any { return alice.must(t, "count", name, request{Owner: outer.Owner().String()}).Value }
		if seen() != "2" || alice.is(t, "tryLock", name, request{}) {
			t.Fatalf("Java sees a count of %v", seen())
		}
		unlock(t, inner)
		if ttl := alice.number(t, "ttl", name, request{}); seen() != "1" || ttl < ms(lease)/2 {
			t.Fatalf("after a partial unlock Java sees a count of %v and a TTL of %d ms", seen(), ttl)
		}
		if alice.is(t, "tryLock", name, request{}) {
			t.Fatal("Java got a lock of which one level was left")
		}
		unlock(t, outer)
		if !alice.is(t, "tryLock", name, request{Lease: ms(lease)}) {
			t.Fatal("Java does not get the lock")
		}
		alice.must(t, "unlock", name, request{})
		return ""
	})

	s.row(t, "reentrancy", javaGo, func(t *testing.T) string {
		t.Parallel()
		const name = "reentry:java"
		alice := s.java.thread("reentry:java")
		owner := alice.owner(t)
		for i := 1; i <= 3; i++ {
			alice.must(t, "lock", name, request{Lease: ms(lease)})
			if st := inspect(t, s.slow, name); st.Count != i || st.Owner != owner || !st.Foreign {
				t.Fatalf("Go sees %+v after %d levels of %s", st, i, owner)
			}
		}
		for left := 2; left >= 1; left-- {
			alice.must(t, "unlock", name, request{})
			// All three versions keep the explicit lease. Between them, until
			// 3.27.2, there are some that fall back to lockWatchdogTimeout.
			if st := inspect(t, s.slow, name); st.Count != left || st.TTL < lease/2 {
				t.Fatalf("Go sees %+v with %d levels left", st, left)
			}
			if _, err := s.slow.Lock(name).TryLock(bounded(t)); err == nil {
				t.Fatal("Go got a lock of which a level was left")
			}
		}
		alice.must(t, "unlock", name, request{})
		unlock(t, hold(t, s.slow, name))

		// Without a lease the watchdog goes on for the level that is left. Another
		// name: 3.14.1 has not forgotten the lease of this one (see surprises).
		const renewed = name + ":renewed"
		alice.must(t, "lock", renewed, request{})
		alice.must(t, "lock", renewed, request{})
		alice.must(t, "unlock", renewed, request{})
		time.Sleep(2 * watchdog)
		if st := inspect(t, s.slow, renewed); st.Count != 1 || st.Owner != owner || st.TTL > watchdog {
			t.Fatalf("two watchdog leases after a partial unlock Go sees %+v", st)
		}
		alice.must(t, "unlock", renewed, request{})
		s.free(t, renewed)
		return ""
	})
}
