package wire

// The names of the works.
const (
	Uncontended = "uncontended" // each slot locks and unlocks a name of its own
	Contended   = "contended"   // all waiters want one name
	Held        = "held"        // many locks are held for a while
	Waiting     = "waiting"     // many calls wait for locks of somebody else
	Churn       = "churn"       // every name is used once
)

// The names of the systems.
const (
	Holdfast    = "holdfast"
	Rueidislock = "rueidislock"
	Redsync     = "redsync"
	Redislock   = "redislock"
	Redisson    = "redisson"
	Floor       = "floor"

	// The two on go-redis' autopipeline, which is marked as experimental there,
	// instead of its pool.
	RedsyncPiped   = "redsync-piped"
	RedislockPiped = "redislock-piped"

	// In W3 also: holdfast's waiters as futures that one goroutine takes in turn, and
	// the floor by as many goroutines as there are waiters, each in its turn.
	HoldfastFutures = "holdfast-futures"
	FloorTurns      = "floor-turns"
)

// What a job may say about telemetry.
const (
	TelemetryOff       = "off"       // no provider at all
	TelemetryUnsampled = "unsampled" // tracing and metrics on, the caller's trace is not sampled
	TelemetrySampled   = "sampled"   // tracing and metrics on, the caller's trace is sampled
)

// Job is one trial for one performer. Which fields matter depends on the work; a
// zero means that the work chooses.
type Job struct {
	System string `json:"system"`
	Work   string `json:"work"`

	Addr   string `json:"addr"`   // of the redis-server
	Prefix string `json:"prefix"` // of every name of this trial; the performers of one trial share it

	Process   int `json:"process"`   // which performer of the trial this is, from 0
	Processes int `json:"processes"` // how many there are

	Seconds float64 `json:"seconds"` // how long the work is measured
	Warmup  float64 `json:"warmup"`  // how long it runs before that, not measured

	InFlight int  `json:"inFlight,omitempty"` // uncontended, churn: slots; held: locks taken at a time
	Async    bool `json:"async,omitempty"`    // use futures where the system has them
	Waiters  int  `json:"waiters,omitempty"`  // contended, waiting: calls that want the lock at the same time
	Names    int  `json:"names,omitempty"`    // held, waiting: locks
	N        int  `json:"n,omitempty"`        // works that count instead of looking at the clock

	Lease    int64 `json:"lease,omitempty"`    // milliseconds
	Interval int64 `json:"interval,omitempty"` // milliseconds between renewals

	Telemetry string `json:"telemetry,omitempty"`

	// Guard is a file of two numbers of 8 bytes (little endian) that all
	// performers of a contended trial map into memory. Whoever holds the lock
	// reads the first and writes the next one, in two steps and not as an atomic
	// addition, so that two holders at once lose a count. The second says who
	// was there last.
	Guard string `json:"guard,omitempty"`

	// Profile is where a CPU profile of the measured part goes; empty: none.
	Profile string `json:"profile,omitempty"`

	// Knobs change how a peer is set up; a missing one has the value that won
	// the sweep written down beside it.
	Knobs map[string]int `json:"knobs,omitempty"`
}

// Knob returns a setting, or the value that it has by default.
func (j Job) Knob(name string, standard int) int {
	if v, ok := j.Knobs[name]; ok {
		return v
	}
	return standard
}

// Sample is what one performer measured in one trial.
type Sample struct {
	// Ops is what was finished within Seconds.
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`

	// Served is everything that was finished between go and this answer, with
	// what was still on its way when time was up. The server's counters, which
	// are read at those two moments, are divided by it. 0 means Ops.
	Served int64 `json:"served,omitempty"`

	Latency *Histogram `json:"latency,omitempty"` // nanoseconds

	CPUSeconds float64 `json:"cpuSeconds"` // of the performer, user and system, within Seconds
	Allocs     int64   `json:"allocs"`     // within Seconds; -1: not measured
	AllocBytes int64   `json:"allocBytes"` // the same

	HeapBytes  int64 `json:"heapBytes"`  // of what the work keeps alive; -1: not measured
	Goroutines int   `json:"goroutines"` // that the work keeps alive; -1: not measured

	// Extra is what only this work has.
	Extra map[string]float64 `json:"extra,omitempty"`
}

// Figures in Extra of the contended work.
const (
	// Guarded is how often a performer passed the guard.
	Guarded = "guarded"
	// LapP99ToMean is the 99th percentile over the mean of the time that as many
	// hand-overs in a row take as there are waiters.
	LapP99ToMean = "lap_p99_to_mean"
	// ChangedHands is how often somebody else had been there before: what is
	// left was taken again by whoever had just given it back.
	ChangedHands = "changed_hands"
	// Unserved is how many waiters never had the lock.
	Unserved = "unserved"
)

// Requests returns what the server's counters are divided by.
func (s *Sample) Requests() int64 {
	if s.Served > 0 {
		return s.Served
	}
	return s.Ops
}
