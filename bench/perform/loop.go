package perform

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// loop is some work that repeats until it is told to stop: a number of goroutines
// that count what they finish in the same place. What is finished while the first
// slots fill up is counted apart.
type loop struct {
	stopping atomic.Bool
	settled  atomic.Bool
	filling  wire.Histogram // one entry for each operation
	done     wire.Histogram

	mu  sync.Mutex
	err error
}

// fail keeps the first error and ends the loop.
func (l *loop) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.stopping.Store(true)
}

func (l *loop) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// add counts an operation.
func (l *loop) add(took time.Duration) {
	if l.settled.Load() {
		l.done.Add(took)
	} else {
		l.filling.Add(took)
	}
}

// settle waits until as many operations are finished as there are slots.
func (l *loop) settle(ctx context.Context, slots int) (meter, error) {
	for l.filling.Count() < int64(slots) && !l.stopping.Load() && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	m, err := startMeter()
	l.settled.Store(true)
	return m, err
}

// run runs body on n goroutines, and measures for d once all slots are busy. What
// body starts before the time is over, it finishes: that counts for the server's
// figures but not for the rate.
func (l *loop) run(ctx context.Context, n, slots int, d time.Duration, body func(ctx context.Context, i int) error) (wire.Sample, error) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if err := body(ctx, i); err != nil {
				l.fail(err)
			}
		})
	}
	m, err := l.settle(ctx, slots)
	if err != nil {
		l.fail(err)
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		l.fail(context.Cause(ctx))
	}
	ops := l.done.Count()
	sample, err := m.stop()
	l.stopping.Store(true)
	group.Wait()
	if err = errors.Join(l.failed(), err); err != nil {
		return wire.Sample{}, err
	}
	sample.Ops, sample.Served, sample.Latency = ops, l.filling.Count()+l.done.Count(), &l.done
	return sample, nil
}

// twice warms up and then measures: body gets a fresh loop each time. n is the
// number of goroutines, slots that of operations under way.
func twice(ctx context.Context, job wire.Job, start func() error, n, slots int,
	body func(l *loop) func(ctx context.Context, i int) error) (wire.Sample, error) {
	warm := new(loop)
	if _, err := warm.run(ctx, n, slots, seconds(job.Warmup), body(warm)); err != nil {
		return wire.Sample{}, err
	}
	if err := start(); err != nil {
		return wire.Sample{}, err
	}
	l := new(loop)
	return l.run(ctx, n, slots, seconds(job.Seconds), body(l))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
