package plan

import (
	"context"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Scale is how long everything takes.
type Scale struct {
	Short   bool    // every row, but small
	Seconds float64 // of a trial
	Warmup  float64 // before it
}

// Of returns n, or the smaller number for a short run.
func (s Scale) Of(n, short int) int {
	if s.Short {
		return short
	}
	return n
}

// Row is one line of the table of targets.
type Row struct {
	ID    string
	Title string
	Unit  string // of an operation, in the plural
	// Rounds is how often the trials run; 0 means as often as the user said.
	Rounds int
	// Split makes that many times as many rounds, each as much shorter: for a row
	// whose targets compare systems so closely that the machine's moods, which last
	// for seconds, would decide.
	Split   int
	Trials  func(Scale) []Trial
	Targets []Target
}

// Trial is one system at one point.
type Trial struct {
	Key
	// Job is for every performer; the conductor fills in where and what for.
	Job wire.Job
	// Processes is how many performers do it at the same time; 0 means one.
	Processes int
	// Watch runs in the conductor from go until the performers are done, which
	// ends its ctx. Its figures join the trial's.
	Watch func(ctx context.Context, client rueidis.Client) (Figures, error)
}

// All returns every row.
func All() []Row {
	return []Row{
		uncontended(), oneAtATime(), oneName(), manyProcesses(),
		held(), waiting(), allocations(), churn(), growing(),
	}
}

// trial makes a trial with the scale's times.
func trial(s Scale, system, point string, job wire.Job) Trial {
	job.System, job.Seconds, job.Warmup = system, s.Seconds, s.Warmup
	return Trial{Key: Key{system, point}, Job: job}
}

// everybody is all systems, in the order in which they run.
var everybody = append([]string{wire.Holdfast, wire.Floor}, rivals...)

// rivals are all peers.
var rivals = []string{
	wire.Rueidislock, wire.Redsync, wire.Redislock, wire.RedsyncPiped, wire.RedislockPiped, wire.Redisson,
}
