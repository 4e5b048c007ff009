package report

import (
	"strings"
	"testing"
)

// Rows with more and shorter rounds than the others are named, once each.
func TestProvenanceNamesSplitRows(t *testing.T) {
	cell := func(rounds int) Cell { return Cell{PerRound: make([]map[string]float64, rounds)} }
	r := &Results{Rounds: 3, Seconds: 2, Rows: []Row{
		{ID: "W1", Cells: []Cell{cell(9), cell(9)}},
		{ID: "W2", Cells: []Cell{cell(9)}},
		{ID: "W3", Cells: []Cell{cell(3)}},
		{ID: "W8", Cells: []Cell{cell(1)}},
	}}
	if got, want := r.provenance(), "Medians of 3 rounds of 2 s (W1, W2: 9 of 0.67 s)."; !strings.HasPrefix(got, want) {
		t.Errorf("%q does not begin with %q", got, want)
	}
	r.Rows = r.Rows[2:]
	if got, want := r.provenance(), "Medians of 3 rounds of 2 s."; !strings.HasPrefix(got, want) {
		t.Errorf("%q does not begin with %q", got, want)
	}
}
