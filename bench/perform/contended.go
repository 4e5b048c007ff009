package perform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// contended lets Waiters callers want one name: lock, count, unlock, again. An
// operation is a grant, its latency is how long it was waited for.
//
// Waits that end in the first quarter of the time are not in the latency: the
// queue is filling up.
func contended(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	switch job.System {
	case wire.Floor:
		return floorHandOvers(ctx, job, start, 1)
	case wire.FloorTurns:
		return floorHandOvers(ctx, job, start, job.Waiters)
	case wire.HoldfastFutures:
		return futureCrowd(ctx, job, start)
	}
	system, err := peer.Open(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	guard, err := openGuard(job.Guard)
	if err != nil {
		return wire.Sample{}, errors.Join(err, system.Close())
	}
	sample, err := crowds(system, guard, job, start)
	return sample, errors.Join(err, guard.close(), system.Close())
}

// crowds warms up on one name and measures on another: whatever an interrupted
// call of the warm-up left in Redis is in nobody's way.
func crowds(system peer.System, guard *guard, job wire.Job, start func() error) (wire.Sample, error) {
	warm := crowd{process: job.Process, name: job.Prefix + "warm", section: section{guard: newGuard()}}
	if _, err := warm.run(system, job.Waiters, seconds(job.Warmup)); err != nil {
		return wire.Sample{}, err
	}
	if err := start(); err != nil {
		return wire.Sample{}, err
	}
	c := crowd{process: job.Process, name: job.Prefix + "name", section: section{guard: guard}}
	return c.run(system, job.Waiters, seconds(job.Seconds))
}

// crowd is some callers who want the same lock.
type crowd struct {
	process int
	name    string
	section section

	waits wire.Histogram
	from  time.Time // waits that end before are not counted
}

func (c *crowd) run(system peer.System, waiters int, d time.Duration) (wire.Sample, error) {
	slots := make([]peer.Slot, waiters)
	grants := make([]int64, waiters)
	for i := range slots {
		slots[i] = system.Slot(c.name)
	}
	ctx, cancel := context.WithCancel(system.Context())
	defer cancel()
	m, err := startMeter()
	if err != nil {
		return wire.Sample{}, err
	}
	c.from = m.began.Add(d / 4)
	var group sync.WaitGroup
	errs := make([]error, waiters)
	for i, slot := range slots {
		group.Go(func() { grants[i], errs[i] = c.want(ctx, slot, i) })
	}
	time.Sleep(d)
	ops := c.section.leave(cancel)
	sample, err := m.stop()
	group.Wait()
	if err = errors.Join(append(errs, err)...); err != nil {
		return wire.Sample{}, err
	}
	sample.Ops, sample.Latency = ops, &c.waits
	sample.Extra = map[string]float64{
		wire.Guarded: float64(ops), wire.ChangedHands: float64(c.section.changed.Load()), wire.Unserved: 0,
	}
	for _, n := range grants {
		sample.Served += n
		if n == 0 {
			sample.Extra[wire.Unserved]++
		}
	}
	return sample, nil
}

// want takes the lock again and again, and says how often.
func (c *crowd) want(ctx context.Context, slot peer.Slot, i int) (grants int64, err error) {
	who := uint64(c.process)<<32 | uint64(i+1)
	for ctx.Err() == nil {
		began := time.Now()
		if err := slot.Lock(ctx); err != nil {
			if ctx.Err() != nil {
				return grants, nil
			}
			return grants, fmt.Errorf("lock: %w", err)
		}
		granted := time.Now()
		grants++
		c.section.enter(who)
		err := slot.Unlock(context.WithoutCancel(ctx))
		if err != nil && ctx.Err() == nil {
			return grants, fmt.Errorf("unlock: %w", err)
		}
		if granted.After(c.from) {
			c.waits.Add(granted.Sub(began))
		}
	}
	return grants, nil
}
