package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/bench/conduct"
	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/report"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// goSystems are performed by this very program.
var goSystems = []string{wire.Holdfast, wire.Floor, wire.Rueidislock, wire.Redsync, wire.Redislock,
	wire.RedsyncPiped, wire.RedislockPiped,
	wire.HoldfastFutures, wire.FloorTurns,
}

// javaSource is where Redisson's performer is, seen from this module's folder.
const javaSource = "java"

// javaWarmup is how long a new JVM runs each kind of work before it is measured.
func javaWarmup(s plan.Scale) time.Duration {
	return time.Duration(s.Of(8, 1)) * time.Second
}

// measure runs what was asked for and reports it. performer is how this program
// is started as one.
func measure(ctx context.Context, s settings, performer, args []string, out io.Writer) (err error) {
	began := time.Now()
	c, err := prepare(ctx, s, performer, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Fleet.Close(), c.Server.Close()) }()
	results := describe(s, args, c)
	wanted := func(t plan.Trial) bool { return s.wantsTrial(t) && c.Fleet.Knows(t.System) }
	for _, row := range plan.All() {
		if !s.wants(row) {
			continue
		}
		result, err := c.Run(ctx, row, s.scale, s.rounds, wanted, progress(out))
		if err != nil {
			return err
		}
		results.Rows = append(results.Rows, tabulate(result))
		if err := results.Rows[len(results.Rows)-1].Table(out); err != nil {
			return err
		}
	}
	results.Took = time.Since(began).Seconds()
	if err := results.Summary(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "took %.0f s\n", results.Took)
	return write(results, s.out)
}

// prepare starts the server and tells the fleet how to start performers.
func prepare(ctx context.Context, s settings, performer []string, out io.Writer) (*conduct.Conductor, error) {
	for _, dir := range []string{s.out, s.profiles} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	fleet := conduct.NewFleet()
	for _, system := range goSystems {
		fleet.Use(system, conduct.Command{Argv: performer})
	}
	if s.wantsTrial(plan.Trial{Key: plan.Key{System: wire.Redisson}}) {
		java, err := conduct.Redisson(ctx, javaSource, javaWarmup(s.scale))
		if err == nil {
			fleet.Use(wire.Redisson, java)
		} else {
			fmt.Fprintf(out, "\n*** no Redisson: %v\n*** its cells stay empty, and \"the best peer\" is the best of the others.\n\n", err)
		}
	}
	server, err := openServer(ctx, s.addr)
	if err != nil {
		return nil, err
	}
	return &conduct.Conductor{Server: server, Fleet: fleet, Knobs: s.knobs, Profiles: s.profiles}, nil
}

func openServer(ctx context.Context, addr string) (*conduct.Server, error) {
	if addr != "" {
		return conduct.Attach(ctx, addr)
	}
	return conduct.StartServer(ctx)
}

// progress prints a line for each trial.
func progress(out io.Writer) conduct.Progress {
	return func(row plan.Row, round, rounds int, t plan.Trial, f plan.Figures, err error) {
		name := strings.TrimSpace(t.System + " " + t.Point)
		if err != nil {
			fmt.Fprintf(out, "%s %d/%d %-28s FAILED: %v\n", row.ID, round, rounds, name, err)
			return
		}
		fmt.Fprintf(out, "%s %d/%d %-28s %9s %s/s\n", row.ID, round, rounds, name,
			report.Number(f[plan.OpsPerSecond]), row.Unit)
	}
}

// tabulate takes medians and judges.
func tabulate(r conduct.Result) report.Row {
	row := report.Row{ID: r.Row.ID, Title: r.Row.Title, Unit: r.Row.Unit}
	for _, t := range r.Trials {
		cell := report.Cell{System: t.System, Point: t.Point, Figures: map[string]float64{}}
		values := map[string][]float64{}
		for _, round := range r.Rounds {
			f, ok := round[t.Key]
			if !ok {
				continue
			}
			cell.PerRound = append(cell.PerRound, f)
			for name, v := range f {
				values[name] = append(values[name], v)
			}
		}
		for name, vs := range values {
			cell.Figures[name] = plan.Median(vs)
		}
		if err := r.Errors[t.Key]; err != nil {
			cell.Error = err.Error()
		}
		row.Cells = append(row.Cells, cell)
	}
	for _, t := range r.Row.Targets {
		v := t.Judge(r.Rounds)
		row.Targets = append(row.Targets, report.Target{
			Text: t.Text, Limit: t.Limit, AtMost: t.AtMost,
			Value: v.Value, Known: v.Known, Ok: v.Ok, Rounds: slices.Clone(v.Rounds),
		})
	}
	return row
}

// write writes the files, if there is a folder for them, and brings its page up to
// date.
func write(r *report.Results, dir string) error {
	if dir == "" {
		return nil
	}
	return errors.Join(r.Write(filepath.Join(dir, "results.json")), r.WriteCharts(dir), r.UpdatePage(filepath.Join(dir, "README.md")))
}
