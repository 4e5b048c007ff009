package report

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/bench/plan"
)

// sampleRow has a trial that failed and one target of each kind.
func sampleRow() Row {
	return Row{
		ID: "W1", Title: "title", Unit: "pairs",
		Cells: []Cell{
			{System: "holdfast", Point: "8", Figures: map[string]float64{plan.OpsPerSecond: 123456.7, plan.P50: 12.34, plan.AllocsPerOp: 0}},
			{System: "redsync", Figures: map[string]float64{plan.OpsPerSecond: 0.5}, Error: "no connection"},
		},
		Targets: []Target{
			{Text: "enough", Limit: 2, Value: 2.5, Known: true, Ok: true},
			{Text: "too much", Limit: 1, AtMost: true, Value: 1.5, Known: true},
			{Text: "unknown", Limit: 1},
		},
	}
}

func TestTable(t *testing.T) {
	row := sampleRow()
	var out bytes.Buffer
	if err := row.Table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]string{
		{"system", "ops/s", "p50 us", "allocs/op"},
		{"holdfast 8", "123457", "12.3", "0"},
		{"redsync", "0.5", "-", "-"},
		{"FAILED", "no connection"},
		{"enough", "at least 2", "2.50", "ok"},
		{"too much", "at most 1", "1.50", "MISS"},
		{"unknown", "at least 1", "-", "not measured"},
	} {
		if !hasLine(out.String(), want) {
			t.Errorf("no line has %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "p99") {
		t.Errorf("there is a column that nobody has:\n%s", &out)
	}
}

// hasLine looks for a line with all words in this order.
func hasLine(text string, words []string) bool {
	for line := range strings.Lines(text) {
		found := true
		for _, w := range words {
			_, rest, ok := strings.Cut(line, w)
			found, line = found && ok, rest
		}
		if found {
			return true
		}
	}
	return false
}

func TestSummaryCounts(t *testing.T) {
	r := Results{Rows: []Row{sampleRow(), sampleRow()}}
	var out bytes.Buffer
	if err := r.Summary(&out); err != nil {
		t.Fatal(err)
	}
	if want := "2 of 4 targets hold, 2 missed"; !strings.Contains(out.String(), want) {
		t.Errorf("the summary does not say %q:\n%s", want, &out)
	}
}

// TestResultsSurviveTheFile: what is read is what was written.
func TestResultsSurviveTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.json")
	want := &Results{Command: "bench", Rounds: 3, Versions: map[string]string{"go": "1"}, Rows: []Row{sampleRow()}}
	if err := want.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwritten\n%+v", got, want)
	}
	if got.Row("W1").Cell("holdfast", "8") == nil || got.Row("W2") != nil || got.Row("W1").Cell("holdfast", "") != nil {
		t.Error("rows and cells are not found by their names")
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 3: "3", 0.02: "0.02", 0.12345: "0.123", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 123456.7: "123457", -1.5: "-1.50",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}
