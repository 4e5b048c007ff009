//go:build !race

package stress

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// What goes up and down with connections and pipeline workers, and not with locks.
const maxGoroutines = 50

// A lock that is held: its hold, its name, what the runtime remembers of it, and
// its place in the program's list.
func TestMemoryPerHeldLock(t *testing.T) {
	const locks, maxBytes = 30_000, 700
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()))
	for _, h := range takeAll(t, rt, "warm-", 2000) { // pools, workers, connections
		unlock(t, h)
	}
	goroutines, heap := runtime.NumGoroutine(), settledHeap()
	holds := takeAll(t, rt, "held-", locks)
	per, grown := (settledHeap()-heap)/locks, runtime.NumGoroutine()-goroutines
	t.Logf("%d bytes per lock; %+d goroutines", per, grown)
	if per > maxBytes {
		t.Errorf("%d bytes per lock, want at most %d", per, maxBytes)
	}
	if grown > maxGoroutines {
		t.Errorf("%d locks cost %d goroutines", locks, grown)
	}
	wantHeld(t, holds)
}

// A future that waits: its request, its share of what its name costs the runtime
// (an actor, a subscription), and its place in the program's list. What the
// standard library keeps for a ctx that can be cancelled comes on top.
func TestMemoryPerWaiter(t *testing.T) {
	const names, perName, maxBytes = 3000, 10, 600
	const waiters = names * perName
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()))
	for i := range names {
		key := "crowded-" + strconv.Itoa(i)
		s.MustDo("HSET", key, "7a9c4b1e-93f0-4c8e-b1d6-0a5f3e2d4c11:1", "1")
		s.MustDo("PEXPIRE", key, "3600000")
	}
	warm := lock(t, rt.Lock("warm"))
	waiting := rt.Lock("warm").LockAsync(t.Context()) // the subscriber is up
	unlock(t, warm)
	if _, err := waiting.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	goroutines, heap, before := runtime.NumGoroutine(), settledHeap(), callsOn(t, s)
	futures := make([]*future.Future[*holdfast.Hold], waiters)
	for i := range futures {
		futures[i] = rt.Lock("crowded-" + strconv.Itoa(i%names)).LockAsync(context.Background())
	}
	subscribed := atRest(t, s, names)
	per, grown := (settledHeap()-heap)/waiters, runtime.NumGoroutine()-goroutines
	t.Logf("%d bytes per waiter; %+d goroutines; %d subscriptions and %.2f scripts per name",
		per, grown, subscribed, float64(callsOn(t, s).since(before).scripts())/names)
	if per > maxBytes {
		t.Errorf("%d bytes per waiter, want at most %d", per, maxBytes)
	}
	if grown > maxGoroutines {
		t.Errorf("%d waiters cost %d goroutines", waiters, grown)
	}
	if subscribed > names+1 { // and that of the name that was used before
		t.Errorf("%d subscriptions for %d names", subscribed, names)
	}
	for i, f := range futures {
		if f.IsDone() {
			t.Fatalf("waiter %d does not wait", i)
		}
	}
}

// atRest waits until every name is subscribed to and nothing is asked any more:
// everybody waits for a message. It returns how many subscriptions there are.
func atRest(t *testing.T, s *redistest.Server, names int) (subscribed int) {
	t.Helper()
	asked := int64(-1)
	eventually(t, patience, "all names are subscribed to, and nothing is asked", func() bool {
		last := asked
		asked, subscribed = callsOn(t, s).scripts(), subscriptions(t, s)
		return subscribed >= names && asked == last
	})
	return subscribed
}

// subscriptions counts those of all clients of the server.
func subscriptions(t *testing.T, s *redistest.Server) (n int) {
	t.Helper()
	clients, err := s.MustDo("CLIENT", "LIST").ToString()
	if err != nil {
		t.Fatal(err)
	}
	for property := range strings.FieldsSeq(clients) {
		name, value, _ := strings.Cut(property, "=")
		if name != "sub" && name != "ssub" {
			continue
		}
		channels, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("CLIENT LIST: %q: %v", property, err)
		}
		n += channels
	}
	return n
}
