package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

func cell(system, point string, figures map[string]float64) Cell {
	return Cell{System: system, Point: point, Figures: figures}
}

// made are results that nobody measured. One of each pair is far from the others,
// because labels collide and bars vanish at the extremes.
func made() *Results {
	r := &Results{
		Command: "go run . -out ../docs/bench", Rounds: 3, Seconds: 2,
		Machine:  Machine{CPU: "A Processor With <Quite> A Long Name & 2.60GHz", Cores: 2, Arch: "linux/amd64"},
		Versions: map[string]string{"go": "go1.26.8", "redis": "7.0.15", wire.Rueidislock: "v1.0.79", wire.Redisson: "4.7.0"},
	}
	pair := func(rate, cpu, p99 float64) map[string]float64 {
		return map[string]float64{plan.OpsPerSecond: rate, plan.CPUPerOp: cpu, plan.P99: p99}
	}
	w1 := Row{ID: "W1", Cells: []Cell{
		cell(wire.Redsync, "", pair(23_010, 61, 0)), cell(wire.Holdfast, "", pair(231_400, 3.4, 0)),
		cell(wire.Floor, "", pair(135_200, 1.8, 0)), cell(wire.Rueidislock, "", pair(64_010, 19, 0)),
		cell(wire.Redislock, "", pair(12_000, 99, 0)), cell(wire.RedislockPiped, "", pair(28_900, 48, 0)),
		cell(wire.RedsyncPiped, "", pair(20_010, 71, 0)), {System: wire.Redisson, Error: "no Java here"},
	}}
	w3 := Row{ID: "W3", Cells: []Cell{
		cell(wire.Holdfast, "", pair(24_300, 38, 22_400)), cell(wire.Floor, "", pair(25_900, 30, 61)),
		cell(wire.Rueidislock, "", pair(9100, 90, 1_140_000)), cell(wire.Redisson, "", pair(3.1, 470, 2_000)),
	}}
	w3.Cells[2].Figures[wire.Unserved] = 137
	for i, rate := range []float64{24_250, 25_900, 8030, 2.9} {
		w3.Cells[i].Figures[plan.HandOversPerSecond] = rate
	}
	w9 := Row{ID: "W9"}
	for i, n := range []string{"1", "8", "64", "512", "4096", "32768"} {
		f := float64(i + 1)
		w9.Cells = append(w9.Cells, cell(wire.Holdfast, n, pair(40_000*f, 3, 200*f*f*f)),
			cell(wire.Floor, n, pair(39_900*f, 2, 190*f*f*f)), cell(wire.Rueidislock, n, pair(9000*f, 19, 900*f*f*f)))
		if i < 5 { // the last is not there, and the one before is nothing
			w9.Cells = append(w9.Cells, cell(wire.Redsync, n, pair(8000*f*float64(4-i), 60, 910*f*f*f)))
		}
	}
	keep := func(each, goroutines float64) map[string]float64 {
		return map[string]float64{wire.BytesEach: each, plan.Goroutines: goroutines}
	}
	w5 := Row{ID: "W5", Title: "100 000 locks", Cells: []Cell{
		cell(wire.Holdfast, "", keep(612, -1)), cell(wire.Rueidislock, "", keep(6065, 100_004))}}
	w6 := Row{ID: "W6", Title: "100 000 waiters", Cells: []Cell{
		cell(wire.Holdfast, "", keep(533, 3)), cell(wire.Rueidislock, "", keep(4936, 100_002))}}
	r.Rows = []Row{w1, w3, w5, w6, w9}
	return r
}

func TestChartsStayInsideTheirFrame(t *testing.T) {
	charts := made().Charts()
	if len(charts) != len(drawings) {
		t.Fatalf("%d charts of %d", len(charts), len(drawings))
	}
	for _, c := range charts {
		root, inside := parse(t, c.SVG)
		frame := box{0, 0, root.num(t, "width"), root.num(t, "height")}
		if want := fmt.Sprintf("0 0 %s %s", root.attrs["width"], root.attrs["height"]); root.attrs["viewBox"] != want {
			t.Errorf("%s: viewBox %q, not %q", c.Name, root.attrs["viewBox"], want)
		}
		if frame.right < 720 || frame.right > 900 {
			t.Errorf("%s is %g wide", c.Name, frame.right)
		}
		for _, e := range inside {
			b, ok := boxOf(t, e)
			if ok && (b.left < frame.left || b.top < frame.top || b.right > frame.right || b.bottom > frame.bottom) {
				t.Errorf("%s: %s %q at %+v is outside of %+v", c.Name, e.name, e.text, b, frame)
			}
		}
	}
}

func TestChartsHaveEveryValue(t *testing.T) {
	want := map[string][]string{
		"uncontended.svg": {"holdfast", "231 k/s", "135 k/s", "64.0 k/s", "28.9 k/s", "23.0 k/s",
			"3.40 µs", "1.80 µs", "19 µs", "48 µs", "61 µs"},
		"contended.svg": {"24.2 k/s of 24.3 k/s", "25.9 k/s", "8.03 k/s of 9.10 k/s", "2.90/s of 3.10/s", "22.4 ms", "1.14 s", "2 ms"},
		"growth.svg": {"holdfast 240 k/s", "floor 239 k/s", "rueidislock 54 k/s", "redsync 32 k/s",
			"holdfast 43.2 ms", "floor 41.0 ms", "rueidislock 194 ms", "redsync 114 ms", "1", "32768"},
		"memory.svg": {"612 B", "6065 B", "0", "100 k", "533 B", "4936 B"},
	}
	for _, c := range made().Charts() {
		_, inside := parse(t, c.SVG)
		texts := map[string]bool{}
		for _, e := range inside {
			if e.name == "text" {
				texts[e.text] = true
			}
		}
		for _, w := range want[c.Name] {
			if !texts[w] {
				t.Errorf("%s: no label %q in %v", c.Name, w, texts)
			}
		}
	}
}

// Two labels that overlap cannot be read.
func TestChartLabelsDoNotOverlap(t *testing.T) {
	for _, c := range made().Charts() {
		apart(t, c.Name, c.SVG)
	}
}

// All lines end in the same place, at the top of the plot or at its bottom.
func TestNamesOfLinesThatEndTogether(t *testing.T) {
	for _, end := range []float64{0, 300} {
		l := lines{title: "together", note: "a note", across: "in flight", unit: count}
		for _, system := range []string{wire.Holdfast, wire.Floor, wire.Rueidislock, wire.Redsync, wire.Redislock, wire.Redisson} {
			l.of = append(l.of, series{system, []point{{1, 300}, {8, end}}})
		}
		svg := picture{title: "t", finding: "f", panels: []panel{l}, caption: "c"}.render()
		apart(t, fmt.Sprint("lines to ", end), svg)
		_, inside := parse(t, svg)
		note, across := 0.0, 0.0
		for _, e := range inside {
			switch {
			case e.text == l.note:
				note = e.num(t, "y")
			case e.text == l.across:
				across = e.num(t, "y")
			}
		}
		for _, s := range l.of {
			i := slices.IndexFunc(inside, func(e element) bool { return e.name == "text" && e.text == l.label(s) })
			if i < 0 {
				t.Errorf("no %q", l.label(s))
			} else if y := inside[i].num(t, "y"); y <= note || y >= across {
				t.Errorf("%q is at %g, not between the panel's head at %g and its foot at %g", l.label(s), y, note, across)
			}
		}
	}
}

// apart checks that no text is on top of another.
func apart(t *testing.T, what string, svg []byte) {
	t.Helper()
	_, inside := parse(t, svg)
	var boxes []box
	var texts []string
	for _, e := range inside {
		if e.name != "text" {
			continue
		}
		b, _ := boxOf(t, e)
		for i, o := range boxes {
			if b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom {
				t.Errorf("%s: %q is on top of %q", what, e.text, texts[i])
			}
		}
		boxes, texts = append(boxes, b), append(texts, e.text)
	}
}

func TestBarsAreInOrderAndToScale(t *testing.T) {
	r := made()
	_, inside := parse(t, r.Charts()[0].SVG)
	width, order := map[string]float64{}, []string(nil)
	for i, e := range inside {
		if e.name == "rect" && i+1 < len(inside) && inside[i+1].name == "title" {
			system, value, _ := strings.Cut(inside[i+1].text, ": ")
			if strings.HasSuffix(value, "/s") {
				width[system], order = e.num(t, "width"), append(order, system)
			}
		}
	}
	want := []string{wire.Holdfast, wire.Floor, wire.Rueidislock, wire.Redislock, wire.Redsync}
	if strings.Join(order, " ") != strings.Join(want, " ") {
		t.Errorf("bars in the order %v, not %v", order, want)
	}
	drawn, measured := width[wire.Rueidislock]/width[wire.Holdfast], 64_010.0/231_400
	if drawn < measured*0.98 || drawn > measured*1.02 {
		t.Errorf("the bars are as %g to 1, the values as %g", drawn, measured)
	}
}

// What a reader has to know before believing a chart is on the chart.
func TestChartsSayWhereAndHow(t *testing.T) {
	for _, c := range made().Charts() {
		_, inside := parse(t, c.SVG)
		said := ""
		for _, e := range inside {
			if e.name == "text" {
				said += " " + e.text
			}
		}
		for _, w := range []string{"<Quite>", "2 cores", "redis 7.0.15", "go 1.26.8", "rueidislock v1.0.79", "go run . -out ../docs/bench", "3 rounds of 2 s"} {
			if !strings.Contains(said, w) {
				t.Errorf("%s does not say %q: %s", c.Name, w, said)
			}
		}
		switch c.Name {
		case "uncontended.svg":
			if !strings.Contains(said, "Not measured: redisson") {
				t.Errorf("a system without figures is passed over in silence: %s", said)
			}
			if !strings.Contains(said, "than on its pool: redislock.") {
				t.Errorf("which way of two is shown is passed over in silence: %s", said)
			}
		case "growth.svg":
			if !strings.Contains(said, "redsync and redislock are on go-redis' pool.") {
				t.Errorf("which way of two is shown is passed over in silence: %s", said)
			}
		case "contended.svg":
			if !strings.Contains(said, "rueidislock 137") {
				t.Errorf("waiters without a turn are passed over in silence: %s", said)
			}
		}
	}
}

func TestChartsOfWhatWasNotRun(t *testing.T) {
	if charts := (&Results{}).Charts(); len(charts) != 0 {
		t.Errorf("%d charts of nothing", len(charts))
	}
	r := made()
	r.Rows = r.Rows[:1]
	r.Rows[0].Cells = r.Rows[0].Cells[1:2] // holdfast alone
	charts := r.Charts()
	if len(charts) != 1 || charts[0].Name != "uncontended.svg" {
		t.Fatalf("charts of W1 alone: %d", len(charts))
	}
	dir := t.TempDir()
	if err := r.WriteCharts(dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, charts[0].Name))
	if err != nil || !bytes.Equal(b, charts[0].SVG) {
		t.Errorf("the file is not the chart: %v", err)
	}
}
