package plan

// The figures that every trial has. A work may add its own, under the names of
// Sample.Extra. A figure that was not measured is missing.
const (
	OpsPerSecond       = "ops_per_s"
	P50                = "p50_us"
	P99                = "p99_us"
	P999               = "p999_us"
	Mean               = "mean_us"
	Max                = "max_us"
	CPUPerOp           = "client_cpu_us_per_op"
	AllocsPerOp        = "allocs_per_op"
	BytesPerOp         = "alloc_bytes_per_op"
	CommandsPerOp      = "commands_per_op" // that the clients sent
	CallsPerOp         = "calls_per_op"    // and those inside scripts
	ScriptsPerOp       = "scripts_per_op"  // EVAL and EVALSHA
	ServerCPUPerOp     = "server_cpu_us_per_op"
	HeapBytes          = "heap_bytes"
	Goroutines         = "goroutines"
	Ops                = "ops"
	Scripts            = "scripts"         // in the trial
	ClientCPU          = "client_cpu_s"    // in the trial
	Seconds            = "seconds"         // of the trial
	Jain               = "jain_index"      // over the performers: 1 is fair, 1/n is one takes all
	GuardMismatches    = "lost_counts"     // grants less what the guard counted
	HandOversPerSecond = "handovers_per_s" // contended: grants to somebody else than the last holder
	P99ToMean          = "p99_to_mean"     // of the latency
)

// Figures are what was measured in one trial.
type Figures map[string]float64

// Key names a trial within its row.
type Key struct {
	System string
	Point  string // what is varied besides the system: in flight, say
}

// Round is one pass over all trials of a row. Trials that failed are missing.
type Round map[Key]Figures

// Get returns a figure of a trial of this round.
func (r Round) Get(k Key, figure string) (float64, bool) {
	v, ok := r[k][figure]
	return v, ok
}
