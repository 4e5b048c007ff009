package perform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/future"
)

// asyncSlot is a slot of a ring: one future is always on its way.
type asyncSlot struct {
	lock     *holdfast.Lock
	began    time.Time
	locked   *future.Future[*holdfast.Hold] // nil while it unlocks
	unlocked *future.Future[struct{}]
}

// asyncPairs is uncontended through futures: the slots are rings, each with one
// reader that goes round and takes up what is settled.
func asyncPairs(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	rt, err := peer.OpenRuntime(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	readers := min(job.Knob("readers", asyncReaders), job.InFlight)
	rings := make([][]asyncSlot, readers)
	for i := range job.InFlight {
		r := i % readers
		rings[r] = append(rings[r], asyncSlot{lock: rt.Lock(fmt.Sprint(job.Prefix, i))})
	}
	sample, err := twice(rt.Context(), job, start, readers, job.InFlight, func(l *loop) func(context.Context, int) error {
		return func(ctx context.Context, i int) error { return turnRing(ctx, l, rings[i]) }
	})
	return sample, errors.Join(err, rt.Close())
}

// turnRing asks for every lock, then goes round. Every other slot is taken one step
// ahead, so that locks and unlocks are mixed as they are in a program. With the
// first half ahead, pairs end in waves: 16384 of them at a time with 32768 in flight,
// and how many waves end within two seconds is a rate to 5 % only.
func turnRing(ctx context.Context, l *loop, ring []asyncSlot) error {
	for i := range ring {
		ring[i].ask(ctx)
	}
	for i := 0; i < len(ring); i += 2 {
		if err := ring[i].turn(ctx, l); err != nil {
			return err
		}
	}
	for !l.stopping.Load() {
		for i := range ring {
			if err := ring[i].turn(ctx, l); err != nil {
				return err
			}
		}
	}
	return rest(ctx, l, ring)
}

// rest lets every slot finish its pair.
func rest(ctx context.Context, l *loop, ring []asyncSlot) error {
	for i := range ring {
		if ring[i].locked != nil {
			if err := ring[i].turn(ctx, l); err != nil {
				return err
			}
		}
	}
	for i := range ring {
		if err := ring[i].end(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func (s *asyncSlot) ask(ctx context.Context) {
	s.began = time.Now()
	s.locked, s.unlocked = s.lock.LockAsync(ctx), nil
}

// turn waits for the future that is on its way and starts the next one.
func (s *asyncSlot) turn(ctx context.Context, l *loop) error {
	if s.locked == nil {
		if err := s.end(ctx, l); err != nil {
			return err
		}
		s.ask(ctx)
		return nil
	}
	hold, err := s.locked.Get(ctx)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	s.locked, s.unlocked = nil, hold.UnlockAsync()
	return nil
}

// end finishes a pair.
func (s *asyncSlot) end(ctx context.Context, l *loop) error {
	if _, err := s.unlocked.Get(ctx); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	l.add(time.Since(s.began))
	return nil
}
