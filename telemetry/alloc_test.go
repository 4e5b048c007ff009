//go:build !race

// The race detector allocates on its own, and sync.Pool drops values under it on
// purpose, so these gates mean something only without it.

package telemetry

import "testing"

// TestCycleAllocations is the price list: nothing when telemetry is off or the
// call is not sampled, and a bound for a sampled acquire with its hold.
func TestCycleAllocations(t *testing.T) {
	for _, s := range setups(t) {
		cycle(s.ctx, s.rec, grant) // builds the attribute sets
		got := testing.AllocsPerRun(500, func() { cycle(s.ctx, s.rec, grant) })
		t.Logf("%s: %v", s.name, got)
		if got > s.max {
			t.Errorf("%s: %v allocations for a cycle, want at most %v", s.name, got, s.max)
		}
	}
}

func TestEventAllocations(t *testing.T) {
	for _, s := range setups(t) {
		events(s.rec)
		if got := testing.AllocsPerRun(500, func() { events(s.rec) }); got != 0 {
			t.Errorf("%s: %v allocations, want 0", s.name, got)
		}
	}
}

func TestTemplateAllocations(t *testing.T) {
	for name, want := range map[string]float64{"orders:europe": 0, "order:42": 1} {
		if got := testing.AllocsPerRun(500, func() { Template(name) }); got != want {
			t.Errorf("Template(%q): %v allocations, want %v", name, got, want)
		}
	}
}
