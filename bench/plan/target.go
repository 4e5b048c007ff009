package plan

import (
	"math"
	"slices"
)

// Target is one thing that has to hold.
type Target struct {
	Text  string
	Limit float64
	// AtMost makes the limit an upper one.
	AtMost bool
	// Value is computed for each round; false means that the round cannot tell.
	Value func(Round) (float64, bool)
}

// Verdict is what became of a target.
type Verdict struct {
	Value  float64 // the median over the rounds that could tell
	Known  bool    // whether any could
	Ok     bool
	Rounds []float64
}

// Judge holds the median round against the limit.
func (t Target) Judge(rounds []Round) Verdict {
	var v Verdict
	for _, r := range rounds {
		if x, ok := t.Value(r); ok && !math.IsNaN(x) {
			v.Rounds = append(v.Rounds, x)
		}
	}
	if len(v.Rounds) == 0 {
		return v
	}
	v.Known, v.Value = true, Median(v.Rounds)
	v.Ok = v.Value >= t.Limit
	if t.AtMost {
		v.Ok = v.Value <= t.Limit
	}
	return v
}

// Median returns the middle of some values, NaN of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// figure is a figure of one trial.
func figure(name string, k Key) func(Round) (float64, bool) {
	return func(r Round) (float64, bool) { return r.Get(k, name) }
}

// ratio is a figure of one trial over the same of another.
func ratio(name string, k, of Key) func(Round) (float64, bool) {
	return func(r Round) (float64, bool) {
		a, ok := r.Get(k, name)
		b, okOf := r.Get(of, name)
		return a / b, ok && okOf && b != 0
	}
}

// overBest is a figure of one trial over the largest of some others.
func overBest(name string, k Key, others []Key) func(Round) (float64, bool) {
	return func(r Round) (float64, bool) {
		best := 0.0
		for _, o := range others {
			v, _ := r.Get(o, name)
			best = max(best, v)
		}
		v, ok := r.Get(k, name)
		return v / best, ok && best > 0
	}
}

// keys are the trials of some systems at one point.
func keys(point string, systems ...string) []Key {
	var ks []Key
	for _, s := range systems {
		ks = append(ks, Key{s, point})
	}
	return ks
}
