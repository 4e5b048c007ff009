package plan

import (
	"fmt"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// pairs are the trials of lock and unlock by some systems.
func pairs(s Scale, systems []string, point string, inFlight int, async bool) []Trial {
	var trials []Trial
	for _, system := range systems {
		trials = append(trials, trial(s, system, point,
			wire.Job{Work: wire.Uncontended, InFlight: inFlight, Async: async}))
	}
	return trials
}

// uncontended is W1: what a busy program gets out of it.
func uncontended() Row {
	us := Key{System: wire.Holdfast}
	than := func(system string) Key { return Key{System: system} }
	return Row{
		ID:     "W1",
		Title:  "uncontended lock+unlock, distinct names, 1024 in flight through futures",
		Unit:   "pairs",
		Split:  3,
		Trials: func(s Scale) []Trial { return pairs(s, everybody, "", 1024, true) },
		Targets: []Target{
			{Text: "pairs/s over the floor", Limit: 1.2, Value: ratio(OpsPerSecond, us, than(wire.Floor))},
			{Text: "pairs/s over rueidislock", Limit: 2.5, Value: ratio(OpsPerSecond, us, than(wire.Rueidislock))},
			{Text: "pairs/s over redsync", Limit: 5, Value: ratio(OpsPerSecond, us, than(wire.Redsync))},
			{Text: "pairs/s over redislock", Limit: 5, Value: ratio(OpsPerSecond, us, than(wire.Redislock))},
			{Text: "client CPU per pair over rueidislock's", Limit: 0.35, AtMost: true,
				Value: ratio(CPUPerOp, us, than(wire.Rueidislock))},
		},
	}
}

// oneAtATime is W2: what a caller waits for who has nothing else to do.
func oneAtATime() Row {
	return Row{
		ID:     "W2",
		Title:  "uncontended lock+unlock, 1 in flight, blocking calls",
		Unit:   "pairs",
		Split:  3,
		Trials: func(s Scale) []Trial { return pairs(s, everybody, "", 1, false) },
		Targets: []Target{
			{Text: "p50 over two raw EVALSHA round trips", Limit: 1.15, AtMost: true,
				Value: ratio(P50, Key{System: wire.Holdfast}, Key{System: wire.Floor})},
		},
	}
}

// The points of W9.
var levels = []int{1, 8, 64, 512, 4096, 32768}

// growing is W9: whether more work makes each piece of it dearer.
func growing() Row {
	slow := []string{wire.Redsync, wire.Redislock, wire.Redisson} // a short run is too short for them
	return Row{
		ID:    "W9",
		Title: "cost as work grows: W1 at 1 to 32768 in flight",
		Unit:  "pairs",
		Trials: func(s Scale) []Trial {
			var trials []Trial
			systems := []string{wire.Holdfast, wire.Floor, wire.Rueidislock}
			if !s.Short {
				systems = append(systems, slow...)
			}
			for _, system := range systems { // each is compared with itself: its levels follow one another
				for _, n := range levels {
					trials = append(trials, pairs(s, []string{system}, fmt.Sprint(n), n, true)...)
				}
			}
			return trials
		},
		Targets: []Target{
			{Text: "pairs/s after the peak over the peak", Limit: 0.8, Value: worstFall},
			{Text: "growth of p99 over growth of in flight, from any level to a higher one (1 is linear, the rest is noise)", Limit: 1.25,
				AtMost: true, Value: worstGrowth},
		},
	}
}

// worstFall is the least that holdfast does at any level, over the most it did at
// a lower one.
func worstFall(r Round) (float64, bool) {
	worst, peak := 1.0, 0.0
	for _, n := range levels {
		v, ok := r.Get(Key{wire.Holdfast, fmt.Sprint(n)}, OpsPerSecond)
		if !ok {
			return 0, false
		}
		if peak > 0 {
			worst = min(worst, v/peak)
		}
		peak = max(peak, v)
	}
	return worst, true
}

// worstGrowth is the largest ratio of the growth of p99 to that of in flight. At
// 1 the p99 is proportional to the work, below it grows more slowly.
func worstGrowth(r Round) (float64, bool) {
	worst := 0.0
	for i, low := range levels {
		for _, high := range levels[i+1:] {
			growth, ok := ratio(P99, Key{wire.Holdfast, fmt.Sprint(high)}, Key{wire.Holdfast, fmt.Sprint(low)})(r)
			if !ok {
				return 0, false
			}
			worst = max(worst, growth*float64(low)/float64(high))
		}
	}
	return worst, true
}
