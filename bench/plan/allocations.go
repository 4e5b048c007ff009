package plan

import "github.com/holdfast-go/holdfast/bench/wire"

// cycles are the points of W7: what is seen of a cycle, and how it is called.
var cycles = []struct {
	telemetry string
	limit     float64
}{
	{wire.TelemetryOff, 8},
	{wire.TelemetryUnsampled, 8},
	{wire.TelemetrySampled, 20},
}

// forms are the two ways to call it.
var forms = []struct {
	name     string
	inFlight int
	async    bool
}{
	{"one at a time, blocking", 1, false},
	{"1024 in flight, futures", 1024, true},
}

// allocations is W7: what one uncontended lock and unlock allocates.
func allocations() Row {
	row := Row{
		ID:     "W7",
		Title:  "uncontended cycle allocations, telemetry off / unsampled / sampled",
		Unit:   "pairs",
		Rounds: 1,
		Trials: func(s Scale) []Trial {
			var trials []Trial
			for _, f := range forms {
				for _, c := range cycles {
					trials = append(trials, trial(s, wire.Holdfast, c.telemetry+", "+f.name, wire.Job{
						Work: wire.Uncontended, InFlight: f.inFlight, Async: f.async, Telemetry: c.telemetry,
					}))
				}
			}
			return trials
		},
	}
	for _, f := range forms {
		for _, c := range cycles {
			point := c.telemetry + ", " + f.name
			row.Targets = append(row.Targets, Target{
				Text: "allocations, " + point, Limit: c.limit, AtMost: true,
				Value: figure(AllocsPerOp, Key{wire.Holdfast, point}),
			})
		}
	}
	return row
}
