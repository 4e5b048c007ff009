package perform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/future"
)

// floorHandOvers is the most that one name can be handed over with one round
// trip each: nobody asks before the answer to the last script is there. One
// goroutine does that in a loop; several do it in turn, and what that takes longer
// is what it costs to wake the next caller. The latency is from one turn to the next,
// as that of a caller who asks again at once, is served in order, and has no lock
// library in the way: how evenly the machine works.
func floorHandOvers(ctx context.Context, job wire.Job, start func() error, goroutines int) (wire.Sample, error) {
	floor, err := peer.OpenFloor(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	defer floor.Close()
	keys := peer.NewKeys(job.Prefix, 2)
	if err := floor.LockFirst(ctx, keys); err != nil {
		return wire.Sample{}, err
	}
	owner := 0
	var lap *laps
	sample, err := twice(ctx, job, start, goroutines, goroutines, func(l *loop) func(context.Context, int) error {
		t := newTurns(goroutines)
		lap = newLaps(max(job.Waiters, 1))
		return func(ctx context.Context, i int) error {
			defer t.pass(i)
			asked := time.Now()
			for t.wait(i); !l.stopping.Load(); t.wait(i) {
				if err := floor.HandOver(ctx, keys, owner, 1-owner); err != nil {
					return err
				}
				owner = 1 - owner
				l.add(time.Since(asked))
				asked = time.Now()
				lap.add(asked)
				t.pass(i)
			}
			return nil
		}
	})
	sample.Extra = map[string]float64{wire.ChangedHands: float64(sample.Ops)}
	if lap.took.Count() > 0 {
		sample.Extra[wire.LapP99ToMean] = lap.took.Quantile(0.99) / lap.took.Mean()
	}
	return sample, err
}

// laps measures how long so many hand-overs in a row take: the wait of a caller who
// is served in order, behind so many others.
type laps struct {
	ends []time.Time // of the last ones, a ring
	n    int
	took wire.Histogram
}

func newLaps(length int) *laps { return &laps{ends: make([]time.Time, length)} }

func (l *laps) add(end time.Time) {
	first := &l.ends[l.n%len(l.ends)]
	if l.n >= len(l.ends) {
		l.took.Add(end.Sub(*first))
	}
	*first = end
	l.n++
}

// turns lets goroutines run one after the other, in a ring.
type turns []chan struct{}

func newTurns(n int) turns {
	t := make(turns, n)
	for i := range t {
		t[i] = make(chan struct{}, 1)
	}
	t[0] <- struct{}{}
	return t
}

func (t turns) wait(i int) { <-t[i] }

// pass is the next one's turn. The last one to leave finds its own place taken.
func (t turns) pass(i int) {
	select {
	case t[(i+1)%len(t)] <- struct{}{}:
	default:
	}
}

// futureCrowd is the crowd as futures: one goroutine takes them in the order in
// which they were asked for, which is the order in which they are granted.
func futureCrowd(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	rt, err := peer.OpenRuntime(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	guard, err := openGuard(job.Guard)
	if err != nil {
		return wire.Sample{}, errors.Join(err, rt.Close())
	}
	sample, err := takeInTurn(rt, guard, job, start)
	return sample, errors.Join(err, guard.close(), rt.Close())
}

func takeInTurn(rt *peer.Runtime, guard *guard, job wire.Job, start func() error) (wire.Sample, error) {
	ctx := rt.Context()
	s := section{guard: guard}
	sample, err := twice(ctx, job, start, 1, job.Waiters, func(l *loop) func(context.Context, int) error {
		lock := rt.Lock(job.Prefix + "name")
		return func(ctx context.Context, _ int) error {
			ring := make([]waiter, job.Waiters)
			for i := range ring {
				ring[i].ask(ctx, lock)
			}
			for i := 0; ; i = (i + 1) % len(ring) {
				hold, err := ring[i].future.Get(ctx)
				if err != nil {
					return fmt.Errorf("lock: %w", err)
				}
				l.add(time.Since(ring[i].asked))
				s.enter(uint64(i + 1))
				if err := hold.Unlock(ctx); err != nil {
					return fmt.Errorf("unlock: %w", err)
				}
				if l.stopping.Load() {
					return leave(ctx, ring, i)
				}
				ring[i].ask(ctx, lock)
			}
		}
	})
	if err != nil {
		return wire.Sample{}, err
	}
	sample.Extra = map[string]float64{ // the guard has seen the warm-up, too
		wire.Guarded: float64(s.passed.Load()), wire.ChangedHands: float64(sample.Ops), wire.Unserved: 0,
	}
	return sample, nil
}

type waiter struct {
	asked  time.Time
	future *future.Future[*holdfast.Hold]
}

func (w *waiter) ask(ctx context.Context, lock *holdfast.Lock) {
	w.asked, w.future = time.Now(), lock.LockAsync(ctx)
}

// leave lets everybody who still waits have their turn: all but the one who has
// just been served.
func leave(ctx context.Context, ring []waiter, served int) error {
	var group sync.WaitGroup
	errs := make([]error, len(ring))
	for i := range ring {
		if i == served {
			continue
		}
		group.Go(func() {
			hold, err := ring[i].future.Get(ctx)
			if err == nil {
				err = hold.Unlock(ctx)
			}
			errs[i] = err
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
