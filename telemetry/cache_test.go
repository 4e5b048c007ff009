package telemetry

import (
	"strings"
	"testing"
)

func TestCacheStopsGrowing(t *testing.T) {
	builds := 0
	c := newCache(3, func(k int) *int { builds++; return &k })
	for k := range 3 {
		if first, second := c.get(k), c.get(k); first != second {
			t.Errorf("key %d was built twice", k)
		}
	}
	if builds != 3 {
		t.Fatalf("%d builds for 3 keys", builds)
	}
	for range 5 {
		if v := c.get(7); *v != 7 {
			t.Errorf("get(7) = %d", *v)
		}
	}
	if n := len(*c.m.Load()); n != 3 || builds != 8 {
		t.Errorf("past the limit: %d entries, %d builds; want 3, 8", n, builds)
	}
	if *c.get(1) != 1 || builds != 8 {
		t.Error("a key from before the limit was forgotten")
	}
}

func TestLongTemplatesAreNotKept(t *testing.T) {
	g := newRig(t, nil)
	for _, n := range []int{1, maxNameLen, maxNameLen + 1, 1 << 16} {
		name := strings.Repeat("n", n)
		if got := g.rec.namesOf(name); got.hold != "hold "+name || got.acquire != "acquire "+name {
			t.Errorf("names of %d bytes are wrong", n)
		}
	}
	if n := len(*g.rec.names.m.Load()); n != 2 {
		t.Errorf("%d templates kept, want 2", n)
	}
}
