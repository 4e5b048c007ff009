package interop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

const (
	// wakeBound is the issue's: the median of what a waiter needs after the
	// other side's unlock.
	wakeBound = 100 * time.Millisecond
	// asleep is what no round may take: the next poll of either side is at least
	// ten seconds away, so this one was not woken.
	asleep = 5 * time.Second
	// settle is for the look that a waiter takes once it listens; after it only
	// a message wakes the waiter soon.
	settle = 10 * time.Millisecond
)

// wake: the waiter on one side gets the lock because of the other side's message,
// not by polling and not by the end of the lease.
func (s *scene) wake(t *testing.T) {
	names := []struct {
		name   string
		rounds int
	}{{"{wake}:braced", 40}, {"wake", 200}}
	java := s.java.thread("wake")

	s.row(t, "wake-up", goJava, func(t *testing.T) (note string) {
		for _, n := range names {
			name := n.name
			note = wakeRounds(t, name, n.rounds, func() time.Duration {
				h := hold(t, s.slow, name, holdfast.LeaseFor(long))
				waiting := java.send("lock", name, request{Lease: ms(long)})
				s.listeners(t, name, 1)
				time.Sleep(settle)
				start := time.Now()
				unlock(t, h)
				if r := await(t, "Java's lock", waiting); !r.OK {
					t.Fatalf("Java's lock: %+v", r)
				}
				took := time.Since(start)
				java.must(t, "unlock", name, request{})
				s.listeners(t, name, 0)
				return took
			})
		}
		return note
	})

	s.row(t, "wake-up", javaGo, func(t *testing.T) (note string) {
		for _, n := range names {
			name := n.name
			note = wakeRounds(t, name, n.rounds, func() time.Duration {
				java.must(t, "lock", name, request{Lease: ms(long)})
				waiting := s.slow.Lock(name).LockAsync(bounded(t), holdfast.LeaseFor(long))
				// A Go listener lingers between rounds; the queue tells who waits.
				eventually(t, "Go waits", func() bool { return inspect(t, s.slow, name).LocalWaiters == 1 })
				s.listeners(t, name, 1)
				time.Sleep(settle)
				start := time.Now()
				unlocked := java.send("unlock", name, request{})
				h, err := waiting.Get(bounded(t))
				if err != nil {
					t.Fatalf("Go's lock: %v", err)
				}
				took := time.Since(start)
				if r := await(t, "Java's unlock", unlocked); !r.OK {
					t.Fatalf("Java's unlock: %+v", r)
				}
				unlock(t, h)
				return took
			})
		}
		return note
	})
}

func wakeRounds(t *testing.T, name string, rounds int, round func() time.Duration) string {
	t.Helper()
	took := make([]time.Duration, 0, rounds)
	for i := range rounds {
		d := round()
		if d > asleep {
			t.Fatalf("%s, round %d: the waiter was not woken, it took %v", name, i, d)
		}
		took = append(took, d)
	}
	slices.Sort(took)
	median := took[rounds/2]
	if median > wakeBound {
		t.Fatalf("%s: median %v over %d rounds, want at most %v", name, median, rounds, wakeBound)
	}
	return fmt.Sprintf("median %.1f ms, p99 %.1f ms, %d rounds", millis(median), millis(took[rounds*99/100]), rounds)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
