package plan

import "github.com/holdfast-go/holdfast/bench/wire"

// A grant is a hand-over if somebody else had the lock before. In a system where
// whoever asks first wins, that is mostly the one who has just given it back: grants
// without a hand-over serve one caller, at the speed of a lock that nobody else
// wants. Such a system also looks the better the less its waiters ask.

// crowd are the trials of one name that everybody wants.
func crowd(s Scale, systems []string, processes, waiters int) []Trial {
	var trials []Trial
	for _, system := range systems {
		t := trial(s, system, "", wire.Job{Work: wire.Contended, Waiters: waiters})
		t.Processes = processes
		trials = append(trials, t)
	}
	return trials
}

// oneName is W3: a hot lock inside one program.
func oneName() Row {
	us, futures := Key{System: wire.Holdfast}, Key{System: wire.HoldfastFutures}
	systems := append([]string{wire.HoldfastFutures, wire.FloorTurns}, everybody...)
	return Row{
		ID:     "W3",
		Title:  "one name, 512 waiters in one process",
		Unit:   "grants",
		Trials: func(s Scale) []Trial { return crowd(s, systems, 1, 512) },
		Targets: []Target{
			{Text: "hand-overs/s over raw sequential EVALSHA/s, 512 goroutines over one", Limit: 0.9,
				Value: ratio(HandOversPerSecond, us, Key{System: wire.Floor})},
			{Text: "hand-overs/s over the best peer", Limit: 1.5,
				Value: overBest(HandOversPerSecond, us, keys("", rivals...))},
			{Text: "p99 wait over the mean, goroutines", Limit: 1.2, AtMost: true, Value: figure(P99ToMean, us)},
			{Text: "scripts per hand-over", Limit: 1.2, AtMost: true, Value: figure(ScriptsPerOp, us)},
			{Text: "grants that the guard did not count", AtMost: true, Value: figure(GuardMismatches, us)},
			{Text: "hand-overs/s over raw sequential EVALSHA/s, both by one goroutine (futures)", Limit: 0.9,
				Value: ratio(HandOversPerSecond, futures, Key{System: wire.Floor})},
			{Text: "hand-overs/s over raw EVALSHA/s in turn, both by 512 goroutines", Limit: 0.9,
				Value: ratio(HandOversPerSecond, us, Key{System: wire.FloorTurns})},
			{Text: "p99 wait over the mean, futures", Limit: 1.2, AtMost: true, Value: figure(P99ToMean, futures)},
			{Text: "p99 wait over the mean, goroutines, over the same of raw EVALSHA in turn", Limit: 1.2, AtMost: true,
				Value: ratio(P99ToMean, us, Key{System: wire.FloorTurns})},
			{Text: "p99 wait over the mean, futures, over the same of 512 raw EVALSHA in a row", Limit: 1.2, AtMost: true,
				Value: func(r Round) (float64, bool) {
					wait, ok := r.Get(futures, P99ToMean)
					lap, okLap := r.Get(Key{System: wire.Floor}, wire.LapP99ToMean)
					return wait / lap, ok && okLap
				}},
		},
	}
}

// manyProcesses is W4: a hot lock between programs.
func manyProcesses() Row {
	us := Key{System: wire.Holdfast}
	systems := append([]string{wire.Holdfast}, rivals...)
	return Row{
		ID:     "W4",
		Title:  "one name, 4 processes x 64 waiters",
		Unit:   "grants",
		Trials: func(s Scale) []Trial { return crowd(s, systems, 4, 64) },
		Targets: []Target{
			{Text: "hand-overs/s over the best peer", Limit: 2,
				Value: overBest(HandOversPerSecond, us, keys("", rivals...))},
			{Text: "Redis commands per hand-over, those inside scripts included", Limit: 4, AtMost: true,
				Value: figure(CallsPerOp, us)},
			{Text: "Jain index over processes", Limit: 0.95, Value: figure(Jain, us)},
			{Text: "grants that the guard did not count", AtMost: true, Value: figure(GuardMismatches, us)},
		},
	}
}
