package plan

import (
	"fmt"
	"math"
	"testing"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// TestTargetsTellGoodFromBad gives every ratio of W1 to W4 a round in which it
// just holds and one in which it just fails.
func TestTargetsTellGoodFromBad(t *testing.T) {
	us := Key{System: wire.Holdfast}
	peers := func(figure string, v float64) Round {
		r := Round{}
		for _, s := range everybody {
			r[Key{System: s}] = Figures{figure: v}
		}
		return r
	}
	for _, c := range []struct {
		row       Row
		target    int
		figure    string
		good, bad float64 // holdfast's figure, where everybody else has 100
	}{
		{uncontended(), 0, OpsPerSecond, 121, 119},
		{uncontended(), 1, OpsPerSecond, 251, 249},
		{uncontended(), 2, OpsPerSecond, 501, 499},
		{uncontended(), 3, OpsPerSecond, 501, 499},
		{uncontended(), 4, CPUPerOp, 34, 36},
		{oneAtATime(), 0, P50, 114, 116},
		{oneName(), 0, HandOversPerSecond, 91, 89},
		{oneName(), 1, HandOversPerSecond, 151, 149},
		{oneName(), 2, P99ToMean, 1.1, 1.3},
		{oneName(), 3, ScriptsPerOp, 1.1, 1.3},
		{oneName(), 4, GuardMismatches, 0, 1},
		{manyProcesses(), 0, HandOversPerSecond, 201, 199},
		{manyProcesses(), 1, CallsPerOp, 3.9, 4.1},
		{manyProcesses(), 2, Jain, 0.96, 0.94},
		{manyProcesses(), 3, GuardMismatches, 0, 1},
	} {
		target := c.row.Targets[c.target]
		for v, want := range map[float64]bool{c.good: true, c.bad: false} {
			round := peers(c.figure, 100)
			round[us] = Figures{c.figure: v}
			if got := target.Judge([]Round{round}); !got.Known || got.Ok != want {
				t.Errorf("%s, %q at %v: %+v", c.row.ID, target.Text, v, got)
			}
		}
		if got := target.Judge([]Round{{}}); got.Known || got.Ok {
			t.Errorf("%s, %q without a measurement: %+v", c.row.ID, target.Text, got)
		}
	}
}

// TestBestPeer: one fast peer is enough to miss, whichever it is, and holdfast and
// the floor are no peers.
func TestBestPeer(t *testing.T) {
	target := oneName().Targets[1]
	for _, fast := range rivals {
		r := Round{Key{System: wire.Holdfast}: {HandOversPerSecond: 150}, Key{System: wire.Floor}: {HandOversPerSecond: 1000}}
		for _, s := range rivals {
			r[Key{System: s}] = Figures{HandOversPerSecond: 10}
		}
		if v := target.Judge([]Round{r}); v.Value != 15 {
			t.Errorf("all peers at 10: %+v", v)
		}
		r[Key{System: fast}] = Figures{HandOversPerSecond: 120}
		if v := target.Judge([]Round{r}); v.Ok || v.Value != 1.25 {
			t.Errorf("%s at 120: %+v", fast, v)
		}
	}
}

// TestMedianOfRatios: the ratio is taken within each round. The medians of both
// sides alone would say 1.
func TestMedianOfRatios(t *testing.T) {
	a, b := Key{System: "a"}, Key{System: "b"}
	target := Target{Limit: 2, Value: ratio(OpsPerSecond, a, b)}
	round := func(x, y float64) Round { return Round{a: {OpsPerSecond: x}, b: {OpsPerSecond: y}} }
	v := target.Judge([]Round{round(10, 100), round(100, 50), round(300, 100), {a: {OpsPerSecond: 1}}})
	if v.Value != 2 || !v.Ok || len(v.Rounds) != 3 {
		t.Errorf("%+v", v)
	}
	if !math.IsNaN(Median(nil)) || Median([]float64{4, 1, 2, 3}) != 2.5 {
		t.Errorf("medians: %v and %v", Median(nil), Median([]float64{4, 1, 2, 3}))
	}
}

// TestGrowth plays with a curve that is fine: a plateau, and p99 in proportion.
func TestGrowth(t *testing.T) {
	round := func(change func(i int, f Figures)) Round {
		r := Round{}
		for i, n := range levels {
			f := Figures{OpsPerSecond: 100, P99: float64(n)}
			change(i, f)
			r[Key{wire.Holdfast, fmt.Sprint(n)}] = f
		}
		return r
	}
	fall, growth := growing().Targets[0], growing().Targets[1]
	for _, c := range []struct {
		name        string
		change      func(i int, f Figures)
		fall, steep bool // whether the target holds
	}{
		{"flat", func(int, Figures) {}, true, true},
		{"rising", func(i int, f Figures) { f[OpsPerSecond] *= float64(i + 1) }, true, true},
		{"a fall of 19 % at the end", func(i int, f Figures) {
			if i == len(levels)-1 {
				f[OpsPerSecond] = 81
			}
		}, true, true},
		{"a hole in the middle", func(i int, f Figures) {
			if i == 3 {
				f[OpsPerSecond] = 79
			}
		}, false, true},
		{"p99 that grows half as fast again", func(i int, f Figures) {
			if i == len(levels)-1 {
				f[P99] *= 1.5
			}
		}, true, false},
	} {
		r := []Round{round(c.change)}
		if v := fall.Judge(r); v.Ok != c.fall {
			t.Errorf("%s: fall %+v", c.name, v)
		}
		if v := growth.Judge(r); v.Ok != c.steep {
			t.Errorf("%s: growth %+v", c.name, v)
		}
	}
	if v := fall.Judge([]Round{{}}); v.Known {
		t.Errorf("nothing measured: %+v", v)
	}
}

// TestRows: every row of the issue is there, in both sizes, and every target can
// be told apart from the others.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range All() {
		if seen[row.ID] {
			t.Errorf("%s is there twice", row.ID)
		}
		seen[row.ID] = true
		texts := map[string]bool{}
		for _, target := range row.Targets {
			if texts[target.Text] {
				t.Errorf("%s has two targets %q", row.ID, target.Text)
			}
			texts[target.Text] = true
		}
		for _, short := range []bool{false, true} {
			keys := map[Key]bool{}
			for _, trial := range row.Trials(Scale{Short: short, Seconds: 1, Warmup: 1}) {
				if keys[trial.Key] || trial.Job.System != trial.System {
					t.Errorf("%s: trial %v is there twice, or is not its system's", row.ID, trial.Key)
				}
				keys[trial.Key] = true
			}
			if len(keys) == 0 || len(row.Targets) == 0 {
				t.Errorf("%s, short %v: %d trials, %d targets", row.ID, short, len(keys), len(row.Targets))
			}
		}
	}
	for i := range 9 {
		if id := fmt.Sprintf("W%d", i+1); !seen[id] {
			t.Errorf("there is no %s", id)
		}
	}
}
