package conduct

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/bench/plan"
)

// Result is a row with what was measured.
type Result struct {
	Row    plan.Row
	Trials []plan.Trial
	Rounds []plan.Round
	// Errors are the last failures of trials that failed.
	Errors map[plan.Key]error
}

// Progress is told about each trial.
type Progress func(row plan.Row, round, rounds int, t plan.Trial, f plan.Figures, err error)

// Run does all trials of a row, rounds times over unless the row knows better: see
// Rounds and Split of plan.Row.
// wanted leaves out trials. Only ctx ends it early: a trial that fails is noted.
func (c *Conductor) Run(ctx context.Context, row plan.Row, s plan.Scale, rounds int,
	wanted func(plan.Trial) bool, tell Progress) (Result, error) {
	if row.Rounds > 0 {
		rounds = min(rounds, row.Rounds)
	}
	if row.Split > 0 {
		rounds *= row.Split
		s.Seconds /= float64(row.Split)
	}
	result := Result{Row: row, Errors: map[plan.Key]error{}}
	for _, t := range row.Trials(s) {
		if wanted(t) {
			result.Trials = append(result.Trials, t)
		}
	}
	for n := range rounds {
		round := plan.Round{}
		for _, t := range result.Trials {
			f, err := c.Trial(ctx, t, label(row, t, n+1))
			if ctx.Err() != nil {
				return result, context.Cause(ctx)
			}
			if err != nil {
				result.Errors[t.Key] = err
			} else {
				round[t.Key] = f
			}
			tell(row, n+1, rounds, t, f, err)
		}
		result.Rounds = append(result.Rounds, round)
	}
	return result, nil
}

// label names the files of a trial.
func label(row plan.Row, t plan.Trial, round int) string {
	point := strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(t.Point)
	if point != "" {
		point = "-" + point
	}
	return fmt.Sprintf("%s-%s%s-round%d", row.ID, t.System, point, round)
}
