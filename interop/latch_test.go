package interop

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
)

const latchPrefix = "redisson_unlock_latch:"

// latchKeys: since 3.24 Redisson leaves the outcome of an unlock beside the lock
// for some seconds. holdfast neither reads nor writes such keys.
func (s *scene) latchKeys(t *testing.T) {
	const rounds = 50
	java := s.java.thread("latch")

	s.row(t, "latch keys", javaGo, func(t *testing.T) string {
		const name = "latch:java"
		seen := s.events(t, func() {
			contended := java.send("contend", name, request{N: rounds, Counter: "count:latch"})
			for range rounds {
				unlock(t, hold(t, s.slow, name, holdfast.LeaseFor(long)))
			}
			if r := await(t, "contend", contended); !r.OK {
				t.Fatalf("contend: %+v", r)
			}
		})
		// Redisson deletes its latches without waiting for that, so look for the
		// last ones after the events have been counted.
		set, expire := 0, 0
		for key, events := range seen {
			switch {
			case key == name || key == "count:latch":
			case strings.HasPrefix(key, latchPrefix+"{"+name+"}:"):
				set += events["set"]
				expire += events["expire"]
			default:
				t.Errorf("an unlock touched %s: %v", key, events)
			}
		}
		want := 0
		if s.atLeast("3.24.0") {
			want = rounds
		}
		if set != want || expire != want {
			t.Errorf("%d latches set, %d with a TTL, after %d unlocks of Redisson %s; want %d", set, expire, rounds, s.version, want)
		}
		eventually(t, "no latch is left", func() bool {
			keys, err := s.redis.Do("KEYS", latchPrefix+"*").AsStrSlice()
			return err == nil && len(keys) == 0
		})

		// One that stays, as after a crash between the unlock and its clean-up,
		// means nothing to us: whatever it says, the hash decides.
		for _, said := range []string{"0", "1"} {
			latch := latchPrefix + "{" + name + "}:00112233445566778899aabbccddeeff"
			if err := s.redis.Do("SET", latch, said, "PX", "20000").Error(); err != nil {
				t.Fatal(err)
			}
			h := hold(t, s.slow, name, holdfast.LeaseFor(long))
			if java.is(t, "tryLock", name, request{}) {
				t.Error("Java got what Go holds beside a latch")
			}
			unlock(t, h)
			s.free(t, name)
		}
		if want == 0 {
			return "this version writes none"
		}
		return "one per unlock, all with a TTL"
	})

	s.row(t, "latch keys", goJava, func(t *testing.T) string {
		const name = "latch:go"
		seen := s.events(t, func() {
			for range rounds {
				outer := hold(t, s.slow, name)
				inner, err := s.slow.Lock(name).Lock(outer.Context())
				if err != nil {
					t.Fatal(err)
				}
				unlock(t, inner)
				unlock(t, outer)
			}
		})
		for key, events := range seen {
			if key != name {
				t.Errorf("holdfast touched %s: %v", key, events)
			}
		}
		if seen[name]["del"] != rounds {
			t.Errorf("%d releases seen, want %d: %v", seen[name]["del"], rounds, seen)
		}
		if !java.is(t, "tryLock", name, request{Lease: ms(long)}) {
			t.Error("Java does not get what Go left")
		}
		java.must(t, "unlock", name, request{})
		return "holdfast writes the lock key only"
	})
}

// events runs f and returns what happened to which key meanwhile: key -> event
// -> how often.
func (s *scene) events(t *testing.T, f func()) map[string]map[string]int {
	t.Helper()
	const prefix, last = "__keyspace@0__:", "__keyspace@0__:the end"
	if err := s.redis.Do("CONFIG", "SET", "notify-keyspace-events", "KA").Error(); err != nil {
		t.Fatal(err)
	}
	defer s.redis.Do("CONFIG", "SET", "notify-keyspace-events", "")

	c, err := rueidis.NewClient(s.redis.Option())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	seen := map[string]map[string]int{}
	listening, done := make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(done)
		hooked := rueidis.WithOnSubscriptionHook(ctx, func(rueidis.PubSubSubscription) { once.Do(func() { close(listening) }) })
		_ = c.Receive(hooked, c.B().Psubscribe().Pattern(prefix+"*").Build(), func(m rueidis.PubSubMessage) {
			if m.Channel == last {
				cancel()
				return
			}
			key := strings.TrimPrefix(m.Channel, prefix)
			if seen[key] == nil {
				seen[key] = map[string]int{}
			}
			seen[key][m.Message]++
		})
	}()
	defer func() { cancel(); <-done }()
	select {
	case <-listening:
	case <-time.After(patience):
		t.Fatal("no subscription to keyspace events")
	}
	f()
	// Messages come in order: after this one, all have.
	if err := s.redis.Do("PUBLISH", last, "").Error(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the keyspace events do not end")
	}
	return seen
}
