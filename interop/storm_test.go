package interop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	stormPeers   = 3  // processes of each side
	stormWorkers = 16 // in each process
	// stormWatchdog bounds what one missed message may cost a Java waiter: it
	// looks again when the holder's lease ends (fixed in Redisson 3.28.0).
	stormWatchdog = 10 * time.Second
)

// storm: everybody at once, one name, and a counter that only stays right if no
// two critical sections ever overlap.
func (s *scene) storm(t *testing.T) {
	s.row(t, "storm", atOnce, func(t *testing.T) string {
		const name, counter = "storm", "count:storm"
		length := *stormFor
		if testing.Short() {
			length = min(length, 2*time.Second)
		}
		var peers []*peer
		for range stormPeers {
			peers = append(peers, startJava(t, s.version, s.redis.Addr(), stormWatchdog))
		}
		for range stormPeers {
			peers = append(peers, startGo(t, s.redis.Addr(), stormWatchdog))
		}
		var ends []<-chan reply
		for _, p := range peers {
			ends = append(ends, p.thread("main").send("storm", name, request{Wait: ms(length), Workers: stormWorkers, Counter: counter}))
		}
		counts := make([]int64, len(peers))
		total := int64(0)
		for i, end := range ends {
			select {
			case r := <-end:
				n, ok := r.Value.(float64)
				if !r.OK || !ok {
					t.Fatalf("%s: %+v", peers[i].what, r)
				}
				counts[i] = int64(n)
				total += counts[i]
			case <-time.After(length + patience):
				t.Fatalf("%s does not come back from the storm", peers[i].what)
			}
		}
		if got := s.integer(t, "GET", counter); got != total {
			t.Errorf("the counter is %d after %d critical sections: %d overlapped", got, total, total-got)
		}
		s.free(t, name)

		// How evenly is reported, not asserted: it is the scheduler's and the
		// clients' business (docs/REDISSON.md). That a side gets nothing is not.
		shares := make([]string, len(counts))
		for i, n := range counts {
			shares[i] = fmt.Sprintf("%.1f", 100*float64(n)/float64(max(total, 1)))
		}
		if slices.Max(counts[:stormPeers]) == 0 || slices.Max(counts[stormPeers:]) == 0 {
			t.Errorf("one side never had its turn: %v", counts)
		}
		return fmt.Sprintf("%d sections, %.0f/s; shares %% Java %s, Go %s", total, float64(total)/length.Seconds(),
			strings.Join(shares[:stormPeers], " "), strings.Join(shares[stormPeers:], " "))
	})
}
