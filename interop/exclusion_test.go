package interop

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// lockNames are the ways a name can meet Redisson's brace rules, and bytes that
// somebody might want to escape.
var lockNames = []string{"plain", "{braced}:name", "in{the}middle", "open{brace", "blank and ünïcode"}

// exclusion: one side holds, the other side's attempt fails and knows how long
// the lease still is.
func (s *scene) exclusion(t *testing.T) {
	const lease = 20 * time.Second
	alice := s.java.thread("exclusion")

	s.row(t, "exclusion", goJava, func(t *testing.T) string {
		for _, n := range lockNames {
			name := "exclusion:" + n
			h := hold(t, s.slow, name, holdfast.LeaseFor(lease))
			if alice.is(t, "tryLock", name, request{}) || alice.is(t, "tryLock", name, request{Wait: 50, Lease: 1000}) {
				t.Fatalf("%s: Java got what Go holds", name)
			}
			before := s.integer(t, "PTTL", name)
			ttl := alice.number(t, "ttl", name, request{})
			if after := s.integer(t, "PTTL", name); ttl > before || ttl < after || ttl > ms(lease) {
				t.Fatalf("%s: Java sees a TTL of %d ms, the server had %d and then %d", name, ttl, before, after)
			}
			unlock(t, h)
			if !alice.is(t, "tryLock", name, request{Lease: ms(lease)}) {
				t.Fatalf("%s: Java does not get what Go unlocked", name)
			}
			alice.must(t, "unlock", name, request{})
		}
		return ""
	})

	s.row(t, "exclusion", javaGo, func(t *testing.T) string {
		owner := alice.owner(t)
		for _, n := range lockNames {
			name := "exclusion:" + n
			alice.must(t, "lock", name, request{Lease: ms(lease)})
			before := alice.number(t, "ttl", name, request{})
			_, err := s.slow.Lock(name).TryLock(bounded(t))
			after := alice.number(t, "ttl", name, request{})
			var held *holdfast.HeldError
			if !errors.As(err, &held) || !errors.Is(err, holdfast.ErrNotAcquired) {
				t.Fatalf("%s: Go's attempt at what Java holds: %v", name, err)
			}
			if held.Owner != owner || ms(held.TTL) > before || ms(held.TTL) < after {
				t.Fatalf("%s: %+v, want owner %s and a TTL from %d to %d ms", name, held, owner, after, before)
			}
			if _, err := s.slow.Lock(name).Lock(bounded(t), holdfast.WaitFor(50*time.Millisecond)); !errors.Is(err, holdfast.ErrNotAcquired) {
				t.Fatalf("%s: Go's bounded wait for what Java holds: %v", name, err)
			}
			alice.must(t, "unlock", name, request{})
			h, err := s.slow.Lock(name).TryLock(bounded(t))
			if err != nil {
				t.Fatalf("%s: Go does not get what Java unlocked: %v", name, err)
			}
			unlock(t, h)
		}
		return ""
	})
}
