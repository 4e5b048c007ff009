package perform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// uncontended keeps InFlight slots busy, each with a name of its own: lock,
// unlock, again. An operation is such a pair, its latency is from the call of
// lock to the answer of unlock.
func uncontended(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	switch {
	case job.System == wire.Floor:
		return floorPairs(ctx, job, start)
	case job.System == wire.Holdfast && job.Async:
		return asyncPairs(ctx, job, start)
	}
	system, err := peer.Open(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	slots := make([]peer.Slot, job.InFlight)
	for i := range slots {
		slots[i] = system.Slot(fmt.Sprint(job.Prefix, i))
	}
	sample, err := twice(system.Context(), job, start, len(slots), len(slots), func(l *loop) func(context.Context, int) error {
		return func(ctx context.Context, i int) error { return blockingPairs(ctx, l, slots[i]) }
	})
	return sample, errors.Join(err, system.Close())
}

func blockingPairs(ctx context.Context, l *loop, slot peer.Slot) error {
	for !l.stopping.Load() {
		began := time.Now()
		if err := slot.Lock(ctx); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if err := slot.Unlock(ctx); err != nil {
			return fmt.Errorf("unlock: %w", err)
		}
		l.add(time.Since(began))
	}
	return nil
}

// floorBatch is how many locks one DoMulti of the floor takes.
const floorBatch = 128

// floorPairs takes and gives back batches of locks; several loops side by side,
// so that the server has work while a client looks at replies. One in flight is
// two round trips of a single command.
func floorPairs(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	floor, err := peer.OpenFloor(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	defer floor.Close()
	batch := min(job.InFlight, floorBatch)
	loops := max(1, min(job.InFlight/batch, job.Knob("loops", floorLoops)))
	keys := make([]*peer.Keys, loops)
	for i := range keys {
		keys[i] = peer.NewKeys(fmt.Sprint(job.Prefix, i, ":"), batch)
	}
	return twice(ctx, job, start, loops, loops*batch, func(l *loop) func(context.Context, int) error {
		return func(ctx context.Context, i int) error { return floorLoop(ctx, l, floor, keys[i], batch) }
	})
}

func floorLoop(ctx context.Context, l *loop, floor *peer.Floor, keys *peer.Keys, batch int) error {
	for !l.stopping.Load() {
		began := time.Now()
		var err error
		if batch == 1 {
			err = floor.Pair(ctx, keys)
		} else if err = floor.LockAll(ctx, keys); err == nil {
			err = floor.UnlockAll(ctx, keys)
		}
		if err != nil {
			return err
		}
		took := time.Since(began)
		for range batch {
			l.add(took)
		}
	}
	return nil
}
