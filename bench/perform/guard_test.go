package perform

import (
	"os"
	"path/filepath"
	"testing"
)

// twoGuards are two processes' views of one file.
func twoGuards(t *testing.T) (a, b *guard) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "guard")
	if err := os.WriteFile(name, make([]byte, guardSize), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *guard {
		g, err := openGuard(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := g.close(); err != nil {
				t.Error(err)
			}
		})
		return g
	}
	return open(), open()
}

// TestGuardSeesBoth: what one passes, the other sees, and who was there last.
func TestGuardSeesBoth(t *testing.T) {
	a, b := twoGuards(t)
	var changes []bool
	for _, step := range []struct {
		g   *guard
		who uint64
	}{{a, 1}, {a, 1}, {b, 2}, {b, 2}, {a, 1}} {
		changes = append(changes, step.g.pass(step.who))
	}
	for i, want := range []bool{true, false, true, false, true} {
		if changes[i] != want {
			t.Errorf("passage %d changed hands: %v", i, changes[i])
		}
	}
	if n := b.number.Load(); n != 5 {
		t.Errorf("%d passages counted, want 5", n)
	}
}

// TestGuardLosesCounts shows that the guard can fail: two holders at once, one
// of whom comes in while the other is between its two steps, count as one.
func TestGuardLosesCounts(t *testing.T) {
	a, b := twoGuards(t)
	n := a.number.Load()
	b.pass(2)
	a.number.Store(n + 1)
	if n := b.number.Load(); n != 1 {
		t.Errorf("two at once count as %d", n)
	}
}

// TestSectionEnds: nobody counts after the end.
func TestSectionEnds(t *testing.T) {
	s := section{guard: newGuard()}
	s.enter(1)
	canceled := false
	if n := s.leave(func() { canceled = true }); n != 1 || !canceled {
		t.Errorf("%d passages, canceled %v", n, canceled)
	}
	s.enter(1)
	if n := s.guard.number.Load(); n != 1 || s.passed.Load() != 1 {
		t.Errorf("%d passages after the end", n)
	}
}
