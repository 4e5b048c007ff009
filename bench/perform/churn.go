package perform

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/future"
)

// churn uses N names once each, InFlight at a time: lock, unlock, never again. An
// operation is such a pair. What matters is what remains: memory, and the rate of
// each tenth of the names.
func churn(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	if job.InFlight < 1 || job.N < tenths*tenths {
		return wire.Sample{}, fmt.Errorf("%d names, %d in flight", job.N, job.InFlight)
	}
	if job.System == wire.Holdfast && job.Async {
		rt, err := peer.OpenRuntime(ctx, job)
		if err != nil {
			return wire.Sample{}, err
		}
		sample, err := useUp(job, start, func(s *supply) error { return churnRing(rt.Context(), rt, job.InFlight, s) })
		return sample, errors.Join(err, rt.Close())
	}
	system, err := peer.Open(ctx, job)
	if err != nil {
		return wire.Sample{}, err
	}
	sample, err := useUp(job, start, func(s *supply) error { return churnSlots(system, job.InFlight, s) })
	return sample, errors.Join(err, system.Close())
}

// useUp lets run use up a supply that is a tenth as large to warm up, and then
// the one that is measured.
func useUp(job wire.Job, start func() error, run func(*supply) error) (wire.Sample, error) {
	if err := run(newSupply(job.Prefix+"warm-", job.N/tenths)); err != nil {
		return wire.Sample{}, fmt.Errorf("warm up: %w", err)
	}
	before := takeFootprint()
	if err := start(); err != nil {
		return wire.Sample{}, err
	}
	m, err := startMeter()
	if err != nil {
		return wire.Sample{}, err
	}
	s := newSupply(job.Prefix, job.N)
	if err := run(s); err != nil {
		return wire.Sample{}, err
	}
	sample, err := m.stop()
	if err != nil {
		return wire.Sample{}, err
	}
	grown := takeFootprint().since(before)
	sample.Ops, sample.Latency = s.done.Load(), &s.latency
	sample.HeapBytes, sample.Goroutines = grown.heap, grown.goroutines
	sample.Extra = s.rates()
	sample.Extra[wire.StackBytes] = float64(grown.stacks)
	return sample, nil
}

// tenths is into how many parts a supply is divided to see its rate change.
const tenths = 10

// supply is names that are used once each, and the account of it.
type supply struct {
	prefix  string
	n, part int64 // names, and a tenth of them
	given   atomic.Int64
	began   time.Time
	done    atomic.Int64
	passed  [tenths]atomic.Int64 // nanoseconds since began when a tenth was done
	latency wire.Histogram
}

// newSupply rounds n down to a multiple of ten.
func newSupply(prefix string, n int) *supply {
	part := int64(n / tenths)
	return &supply{prefix: prefix, n: part * tenths, part: part, began: time.Now()}
}

// next returns a name that nobody has used, false when there is none left.
func (s *supply) next() (string, bool) {
	i := s.given.Add(1)
	if i > s.n {
		return "", false
	}
	return s.prefix + strconv.FormatInt(i, 10), true
}

// used says that a name is done with, which was asked for at began.
func (s *supply) used(began time.Time) {
	s.latency.Add(time.Since(began))
	if d := s.done.Add(1); d%s.part == 0 {
		s.passed[d/s.part-1].Store(int64(time.Since(s.began)))
	}
}

// rates are the names per second of each tenth.
func (s *supply) rates() map[string]float64 {
	rates, last := map[string]float64{}, int64(0)
	for i := range s.passed {
		passed := s.passed[i].Load()
		rates[wire.RateOfTenth(i+1)] = float64(s.part) / time.Duration(passed-last).Seconds()
		last = passed
	}
	return rates
}

// churnSlots is churn with blocking calls.
func churnSlots(system peer.System, inFlight int, s *supply) error {
	return each(inFlight, inFlight, func(int) error {
		for name, ok := s.next(); ok; name, ok = s.next() {
			slot, began := system.Slot(name), time.Now()
			if err := slot.Lock(system.Context()); err != nil {
				return fmt.Errorf("lock: %w", err)
			}
			if err := slot.Unlock(system.Context()); err != nil {
				return fmt.Errorf("unlock: %w", err)
			}
			s.used(began)
		}
		return nil
	})
}

// passing is a place in a ring: one name after the other passes through it.
type passing struct {
	began    time.Time
	locked   *future.Future[*holdfast.Hold] // nil while it unlocks
	unlocked *future.Future[struct{}]       // nil while it locks; both nil: empty
}

// churnRing is churn through futures, with one reader that goes round.
func churnRing(ctx context.Context, rt *peer.Runtime, inFlight int, s *supply) error {
	ring := make([]passing, inFlight)
	for busy := true; busy; {
		busy = false
		for i := range ring {
			more, err := ring[i].turn(ctx, rt, s)
			if err != nil {
				return err
			}
			busy = busy || more
		}
	}
	return nil
}

// turn waits for the future that is on its way and starts the next one. It is
// false when there is nothing left to do.
func (p *passing) turn(ctx context.Context, rt *peer.Runtime, s *supply) (bool, error) {
	if p.locked != nil {
		hold, err := p.locked.Get(ctx)
		if err != nil {
			return false, fmt.Errorf("lock: %w", err)
		}
		p.locked, p.unlocked = nil, hold.UnlockAsync()
		return true, nil
	}
	if p.unlocked != nil {
		if _, err := p.unlocked.Get(ctx); err != nil {
			return false, fmt.Errorf("unlock: %w", err)
		}
		p.unlocked = nil
		s.used(p.began)
	}
	name, ok := s.next()
	if ok {
		p.began = time.Now()
		p.locked = rt.Lock(name).LockAsync(ctx)
	}
	return ok, nil
}
