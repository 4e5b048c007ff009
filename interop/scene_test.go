package interop

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

const (
	// watchdog is lockWatchdogTimeout on both sides where renewal matters:
	// small enough to see twenty leases, and three of Redisson's 100 ms timer
	// ticks above the renewal period.
	watchdog = 900 * time.Millisecond
	// long is a lease that no case outlives.
	long = 30 * time.Second
	// patience is when something that has to happen counts as never happening.
	patience = 40 * time.Second
)

// scene is one Redisson version, its server, and both sides on it.
type scene struct {
	version string
	redis   *redistest.Server
	java    *peer             // lockWatchdogTimeout = watchdog
	slow    *holdfast.Runtime // the defaults: lease 30 s, a waiter polls every 10 s
	brisk   *holdfast.Runtime // watchdog timeout = watchdog
}

func newScene(t *testing.T, version string) *scene {
	t.Helper()
	s := &scene{version: version, redis: redistest.Start(t)}
	s.java = startJava(t, version, s.redis.Addr(), watchdog)
	s.slow = s.runtime(t)
	s.brisk = s.runtime(t, holdfast.WithWatchdogTimeout(watchdog))
	return s
}

func (s *scene) runtime(t testing.TB, opts ...holdfast.Option) *holdfast.Runtime {
	t.Helper()
	rt, err := holdfast.Open("redis://"+s.redis.Addr(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := rt.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return rt
}

// Directions: whoever acts first, and whoever sees the consequence.
const (
	goJava = "Go to Java"
	javaGo = "Java to Go"
	atOnce = "both"
)

// row runs one case in one direction as a subtest, and adds its line to the
// table; f returns a note for it.
func (s *scene) row(t *testing.T, name, direction string, f func(t *testing.T) (note string)) {
	t.Run(name+"/"+strings.ReplaceAll(direction, " ", "-"), func(t *testing.T) {
		note := ""
		defer func() {
			result := "pass"
			if t.Failed() {
				result = "FAIL"
			}
			results.add(name, s.version, direction, result, note)
		}()
		note = f(t)
	})
}

// bounded returns a context for a call that has to end: for holdfast what await
// is for peers.
func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// hold takes a lock that has to be free by the time patience ends.
func hold(t testing.TB, rt *holdfast.Runtime, name string, opts ...holdfast.LockOption) *holdfast.Hold {
	t.Helper()
	h, err := rt.Lock(name).Lock(bounded(t), opts...)
	if err != nil {
		t.Fatalf("holdfast: lock %s: %v", name, err)
	}
	return h
}

func unlock(t testing.TB, h *holdfast.Hold) {
	t.Helper()
	if err := h.Unlock(bounded(t)); err != nil {
		t.Fatalf("holdfast: unlock %s: %v", h.Name(), err)
	}
}

func inspect(t testing.TB, rt *holdfast.Runtime, name string) holdfast.State {
	t.Helper()
	st, err := rt.Lock(name).Inspect(bounded(t))
	if err != nil {
		t.Fatalf("holdfast: inspect %s: %v", name, err)
	}
	return st
}

// free checks that nobody holds the name, in Redis' own words.
func (s *scene) free(t testing.TB, name string) {
	t.Helper()
	if n := s.integer(t, "EXISTS", name); n != 0 {
		t.Fatalf("%s is still held", name)
	}
}

func (s *scene) integer(t testing.TB, args ...string) int64 {
	t.Helper()
	n, err := s.redis.Do(args...).AsInt64()
	if err != nil {
		t.Fatalf("redis: %v: %v", args, err)
	}
	return n
}

// deadline is when the server will end the lock, by its wall clock, which is
// ours. It moves with every renewal and with nothing else.
func (s *scene) deadline(t testing.TB, name string) time.Time {
	t.Helper()
	ms := s.integer(t, "PEXPIRETIME", name)
	if ms < 0 {
		t.Fatalf("%s has no deadline (%d)", name, ms)
	}
	return time.UnixMilli(ms)
}

// listeners waits until n clients listen on the channel that wakes the name's
// waiters: that many have been refused and wait.
func (s *scene) listeners(t testing.TB, name string, n int64) {
	t.Helper()
	channel := "redisson_lock__channel:{" + name + "}"
	if strings.Contains(name, "{") {
		channel = "redisson_lock__channel:" + name
	}
	eventually(t, fmt.Sprintf("%d listeners on %s", n, channel), func() bool {
		counts, err := s.redis.Do("PUBSUB", "NUMSUB", channel).ToArray()
		if err != nil || len(counts) != 2 {
			t.Fatalf("PUBSUB NUMSUB: %v %v", counts, err)
		}
		got, _ := counts[1].AsInt64()
		return got == n
	})
}

// eventually polls a condition that no event announces.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
