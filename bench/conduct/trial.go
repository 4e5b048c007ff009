package conduct

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// patience is what a trial may take besides its own time: setting up 100 000
// locks, say. A performer that takes longer is killed.
const patience = 3 * time.Minute

// Conductor runs trials.
type Conductor struct {
	Server   *Server
	Fleet    *Fleet
	Knobs    map[string]int
	Profiles string // a folder for CPU profiles; empty: none

	trials int // so far: makes the names of each trial its own
}

// outcome is what a trial's performers and the server said.
type outcome struct {
	samples []*wire.Sample
	watched plan.Figures
	load    load
	lost    float64 // grants that the guard did not count
	guarded bool
}

// Trial runs one trial on an empty server.
func (c *Conductor) Trial(ctx context.Context, t plan.Trial, label string) (plan.Figures, error) {
	if err := c.Server.Flush(ctx); err != nil {
		return nil, err
	}
	limit := time.Duration((t.Job.Seconds+t.Job.Warmup)*float64(time.Second)) + patience
	children, err := c.Fleet.take(ctx, t.System, max(t.Processes, 1))
	if err != nil {
		return nil, err
	}
	var late atomic.Bool
	timer := time.AfterFunc(limit, func() {
		late.Store(true)
		for _, p := range children {
			_ = p.cmd.Process.Signal(syscall.SIGQUIT) // Go and Java print what they hang in
		}
		time.Sleep(time.Second)
		for _, p := range children {
			_ = p.cmd.Process.Kill()
		}
	})
	defer timer.Stop()
	o, err := c.perform(ctx, t, label, children)
	if err != nil {
		c.Fleet.drop(children)
		if late.Load() {
			err = fmt.Errorf("killed after %v: %w", limit, err)
		}
		return nil, err
	}
	return figures(o), c.Fleet.giveBack(t.System, children)
}

// perform is the conversation of a trial.
func (c *Conductor) perform(ctx context.Context, t plan.Trial, label string, children []*child) (o outcome, err error) {
	guard, err := newGuard()
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, guard.remove()) }()
	if err := c.prepare(t, label, guard.name, children); err != nil {
		return o, err
	}
	before, err := c.Server.counters(ctx)
	if err != nil {
		return o, err
	}
	watched := watch(ctx, t, c.Server.client)
	o.samples, err = goAll(children)
	o.watched, err = watched(err)
	if err != nil {
		return o, err
	}
	after, err := c.Server.counters(ctx)
	if err != nil {
		return o, err
	}
	o.load = after.since(before, t.System)
	o.lost, o.guarded, err = guard.compare(o.samples)
	return o, err
}

// prepare hands out the jobs and waits until everybody is ready.
func (c *Conductor) prepare(t plan.Trial, label, guard string, children []*child) error {
	c.trials++
	for i, p := range children {
		job := t.Job
		job.Addr, job.Prefix = c.Server.Addr, fmt.Sprintf("bench:%d:", c.trials)
		job.Process, job.Processes = i, len(children)
		job.Guard, job.Knobs = guard, c.Knobs
		if c.Profiles != "" {
			job.Profile = fmt.Sprintf("%s/%s-%d.pprof", c.Profiles, label, i)
		}
		if err := p.conn.Send(job); err != nil {
			return err
		}
	}
	for _, p := range children {
		if err := p.awaitReady(); err != nil {
			return err
		}
	}
	return nil
}

// goAll starts everybody at once and collects the samples.
func goAll(children []*child) ([]*wire.Sample, error) {
	for _, p := range children {
		if err := p.conn.Send(wire.Go{Go: true}); err != nil {
			return nil, err
		}
	}
	var samples []*wire.Sample
	for _, p := range children {
		s, err := p.sample()
		if err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	return samples, nil
}
