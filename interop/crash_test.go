package interop

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// crash: kill -9 of the process that holds, with a watchdog and with a lease; the
// other side takes over when the lease ends.
func (s *scene) crash(t *testing.T) {
	leases := map[string]time.Duration{"watchdog": 0, "lease": 2 * watchdog}

	s.row(t, "crash", goJava, func(t *testing.T) (note string) {
		t.Parallel()
		for kind, lease := range leases {
			name := "crash:go:" + kind
			victim := startGo(t, s.redis.Addr(), watchdog)
			victim.thread("main").must(t, "lock", name, request{Lease: ms(lease)})
			java := s.java.thread(name)
			waiting := java.send("lock", name, request{Lease: ms(long)})
			end := s.kill(t, victim, name)
			if r := await(t, "Java's lock", waiting); !r.OK {
				t.Fatalf("Java's lock: %+v", r)
			}
			note = inTime(t, end)
			java.must(t, "unlock", name, request{})
		}
		return note
	})

	s.row(t, "crash", javaGo, func(t *testing.T) (note string) {
		t.Parallel()
		for kind, lease := range leases {
			name := "crash:java:" + kind
			victim := startJava(t, s.version, s.redis.Addr(), watchdog)
			victim.thread("main").must(t, "lock", name, request{Lease: ms(lease)})
			waiting := s.slow.Lock(name).LockAsync(bounded(t), holdfast.LeaseFor(long))
			end := s.kill(t, victim, name)
			h, err := waiting.Get(bounded(t))
			if err != nil {
				t.Fatal(err)
			}
			note = inTime(t, end)
			unlock(t, h)
		}
		return note
	})
}

// kill ends the holder once somebody waits for it, and returns when its lease
// will end.
func (s *scene) kill(t *testing.T, victim *peer, name string) time.Time {
	t.Helper()
	s.listeners(t, name, 1)
	time.Sleep(watchdog / 2)
	victim.kill()
	time.Sleep(20 * time.Millisecond) // what it had sent has arrived
	return s.deadline(t, name)
}
