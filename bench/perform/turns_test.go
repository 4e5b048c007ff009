package perform

import (
	"testing"
	"time"
)

// A lap is as many hand-overs as there are waiters, wherever it begins.
func TestLaps(t *testing.T) {
	l := newLaps(4)
	at := time.Now()
	for i := range 12 {
		if at = at.Add(time.Millisecond); i == 7 {
			at = at.Add(6 * time.Millisecond)
		}
		l.add(at)
	}
	// Of the eight laps four have the pause in them.
	if n, mean := l.took.Count(), l.took.Mean(); n != 8 || mean < 6.9e6 || mean > 7.1e6 {
		t.Errorf("%d laps of %.2f ms, want 8 of 7 ms", n, mean/1e6)
	}
}
