package interop

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestInterop runs every case against every version. The cases that mostly wait
// for leases share their time; those that measure have the machine to themselves.
func TestInterop(t *testing.T) {
	for _, version := range wanted() {
		t.Run(version, func(t *testing.T) {
			s := newScene(t, version)
			s.exclusion(t)
			s.queries(t)
			s.wake(t)
			s.latchKeys(t)
			t.Run("timed", func(t *testing.T) {
				s.reentry(t)
				s.watchdogs(t)
				s.leases(t)
				s.force(t)
				s.crash(t)
				s.surprises(t)
			})
			s.guide(t)
			s.storm(t)
			s.leftovers(t)
		})
	}
}

// atLeast reports whether the scene's Redisson is that version or newer.
func (s *scene) atLeast(version string) bool {
	have, want := strings.Split(s.version, "."), strings.Split(version, ".")
	for i := range want {
		h, w := 0, 0
		if i < len(have) {
			h, _ = strconv.Atoi(have[i])
		}
		w, _ = strconv.Atoi(want[i])
		if h != w {
			return h > w
		}
	}
	return true
}

// leftovers: whatever the whole suite left in Redis ends by itself.
func (s *scene) leftovers(t *testing.T) {
	s.row(t, "leftovers", atOnce, func(t *testing.T) string {
		keys, err := s.redis.Do("KEYS", "*").AsStrSlice()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if strings.HasPrefix(key, "count:") || key == guideStock {
				continue // the tests' own counters
			}
			ttl := time.Duration(s.integer(t, "PTTL", key)) * time.Millisecond
			if ttl == -1*time.Millisecond || ttl > long {
				t.Errorf("%s is left with a TTL of %v", key, ttl)
			}
		}
		return ""
	})
}
