package perform

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// held takes Names locks and then does nothing for Seconds but keep them: what is
// measured is the renewals, every Interval, and the memory. An operation is a
// renewal: one of each lock for every whole Interval.
func held(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	if job.Names < 1 || job.InFlight < 1 || job.Interval < 1 {
		return wire.Sample{}, fmt.Errorf("%d names, %d in flight, %d ms between renewals", job.Names, job.InFlight, job.Interval)
	}
	k, err := openKeeper(ctx, job, job.Names)
	if err != nil {
		return wire.Sample{}, err
	}
	sample, err := hold(ctx, job, k, start)
	return sample, errors.Join(err, k.close())
}

func hold(ctx context.Context, job wire.Job, k keeper, start func() error) (wire.Sample, error) {
	if err := practise(ctx, job, k); err != nil {
		return wire.Sample{}, fmt.Errorf("warm up: %w", err)
	}
	empty := takeFootprint()
	err := each(job.Names, job.InFlight, func(i int) error { return k.take(ctx, i, job.Prefix+strconv.Itoa(i)) })
	if err != nil {
		return wire.Sample{}, fmt.Errorf("take: %w", err)
	}
	if err := start(); err != nil {
		return wire.Sample{}, err
	}
	m, err := startMeter()
	if err != nil {
		return wire.Sample{}, err
	}
	select {
	case <-time.After(seconds(job.Seconds)):
	case <-ctx.Done():
		return wire.Sample{}, context.Cause(ctx)
	}
	sample, err := m.stop()
	if err != nil {
		return wire.Sample{}, err
	}
	full := takeFootprint().since(empty)
	periods := int64(job.Seconds*1000) / job.Interval
	sample.Ops = periods * int64(job.Names)
	sample.HeapBytes, sample.Goroutines = full.heap, full.goroutines
	sample.Extra = map[string]float64{
		wire.BytesEach:  full.per(job.Names),
		wire.StackBytes: float64(full.stacks),
		wire.Lost:       float64(k.lost()),
	}
	return sample, nil
}

// practise takes and gives back as many locks as are on their way at a time, a
// few times over, so that connections and pools are not in the bill.
func practise(ctx context.Context, job wire.Job, k keeper) error {
	const times = 4
	n := min(job.InFlight, job.Names)
	for range times {
		err := each(n, n, func(i int) error {
			if err := k.take(ctx, i, job.Prefix+"warm-"+strconv.Itoa(i)); err != nil {
				return err
			}
			return k.give(ctx, i)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// each calls f for every index below n, on some goroutines, until one fails.
func each(n, goroutines int, f func(i int) error) error {
	var group sync.WaitGroup
	errs := make([]error, goroutines)
	for g := range goroutines {
		group.Go(func() {
			for i := g; i < n && errs[g] == nil; i += goroutines {
				errs[g] = f(i)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
