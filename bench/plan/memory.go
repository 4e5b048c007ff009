package plan

import (
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// maxGoroutines is for what comes and goes with connections and workers: far
// from one for each lock or waiter.
const maxGoroutines = 50

// keepsLeases are the systems with a watchdog that is told when a lock is free.
var keepsLeases = []string{wire.Holdfast, wire.Rueidislock}

// held is W5: what a lock costs while its program does something else.
func held() Row {
	us := Key{System: wire.Holdfast}
	return Row{
		ID:     "W5",
		Title:  "100 000 locks held under the watchdog for 3 renewal periods",
		Unit:   "renewals",
		Rounds: 1,
		Trials: func(s Scale) []Trial {
			p := patrol{
				locks:    s.Of(100_000, 10_000),
				interval: time.Duration(s.Of(4000, 500)) * time.Millisecond,
				periods:  3,
			}
			var trials []Trial
			for _, system := range keepsLeases {
				t := trial(s, system, "", wire.Job{
					Work: wire.Held, Names: p.locks, InFlight: 512,
					Lease: p.lease().Milliseconds(), Interval: p.interval.Milliseconds(),
				})
				// A little longer than the patrol, which must not meet the end.
				t.Job.Seconds, t.Watch = (p.lasts() + p.interval/8).Seconds(), p.walk
				trials = append(trials, t)
			}
			return trials
		},
		Targets: []Target{
			{Text: "bytes per lock, stacks included", Limit: 700, AtMost: true, Value: figure(wire.BytesEach, us)},
			{Text: "goroutines for all of them", Limit: maxGoroutines, AtMost: true, Value: figure(Goroutines, us)},
			{Text: "least TTL that the server ever had, over the lease", Limit: 0.5, Value: figure(LeastTTL, us)},
			{Text: "locks without a key afterwards", AtMost: true, Value: figure(KeysMissing, us)},
			{Text: "locks that ended by themselves", AtMost: true, Value: figure(wire.Lost, us)},
			{Text: "client CPU over rueidislock's", Limit: 0.1, AtMost: true,
				Value: ratio(ClientCPU, us, Key{System: wire.Rueidislock})},
			{Text: "scripts per renewal", Limit: 1.0 / 50, AtMost: true, Value: figure(ScriptsPerOp, us)},
		},
	}
}

// waiting is W6: what a call costs while somebody else has the lock.
func waiting() Row {
	us := Key{System: wire.Holdfast}
	return Row{
		ID:    "W6",
		Title: "100 000 calls that wait for 10 000 names",
		Unit:  "waiters",
		Trials: func(s Scale) []Trial {
			var trials []Trial
			for _, system := range keepsLeases {
				trials = append(trials, trial(s, system, "", wire.Job{
					Work: wire.Waiting, Waiters: s.Of(100_000, 10_000), Names: s.Of(10_000, 1000),
				}))
			}
			return trials
		},
		Targets: []Target{
			{Text: "bytes per waiter, stacks included", Limit: 600, AtMost: true, Value: figure(wire.BytesEach, us)},
			{Text: "goroutines for all of them", Limit: maxGoroutines, AtMost: true, Value: figure(Goroutines, us)},
			{Text: "subscriptions per name", Limit: 1, AtMost: true, Value: figure(wire.Subscriptions, us)},
		},
	}
}

// churn is W8: what remains of names that are not used again.
func churn() Row {
	us := Key{System: wire.Holdfast}
	return Row{
		ID:    "W8",
		Title: "1 000 000 names used once each, 1024 in flight",
		Unit:  "pairs",
		Trials: func(s Scale) []Trial {
			var trials []Trial
			for _, system := range keepsLeases {
				trials = append(trials, trial(s, system, "", wire.Job{
					Work: wire.Churn, N: s.Of(1_000_000, 50_000), InFlight: 1024, Async: true,
				}))
			}
			return trials
		},
		Targets: []Target{
			{Text: "bytes that remain, stacks included", Limit: 20e6, AtMost: true, Value: remaining(us)},
			{Text: "pairs/s of the last tenth over the first", Limit: 0.9, Value: lastOverFirst(us)},
		},
	}
}

// remaining is what the heap and the stacks have grown by.
func remaining(k Key) func(Round) (float64, bool) {
	return func(r Round) (float64, bool) {
		heap, ok := r.Get(k, HeapBytes)
		return heap + r[k][wire.StackBytes], ok
	}
}

func lastOverFirst(k Key) func(Round) (float64, bool) {
	return func(r Round) (float64, bool) {
		first, ok := r.Get(k, wire.RateOfTenth(1))
		return r[k][wire.RateOfTenth(10)] / first, ok
	}
}
