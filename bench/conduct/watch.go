package conduct

import (
	"context"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/bench/plan"
)

// watch starts the trial's watcher. What it returns ends the watcher, and gives
// its figures unless the trial failed.
func watch(ctx context.Context, t plan.Trial, client rueidis.Client) func(error) (plan.Figures, error) {
	if t.Watch == nil {
		return func(err error) (plan.Figures, error) { return nil, err }
	}
	ctx, cancel := context.WithCancel(ctx)
	type answer struct {
		figures plan.Figures
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		f, err := t.Watch(ctx, client)
		done <- answer{f, err}
	}()
	return func(err error) (plan.Figures, error) {
		cancel()
		a := <-done
		if err != nil {
			return nil, err
		}
		return a.figures, a.err
	}
}
