package wheel

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lease is an entry with an account: every scheduling must end in exactly one of the other ways.
type lease struct {
	entry     Entry[*lease]
	due       atomic.Int64
	scheduled atomic.Int64
	canceled  atomic.Int64
	fired     atomic.Int64
	returned  atomic.Int64
}

func (l *lease) open() int64 {
	return l.scheduled.Load() - l.canceled.Load() - l.fired.Load() - l.returned.Load()
}

// stressWheel is a wheel whose Handler keeps the accounts and checks that nothing is early and that calls never overlap.
func stressWheel(t *testing.T) *Wheel[*lease] {
	var w *Wheel[*lease]
	var inside atomic.Int32
	w, err := New(Config[*lease]{
		Granularity: 4 * ms,
		Horizon:     100 * ms,
		Handler: func(due []*Entry[*lease]) {
			now := w.Now()
			if inside.Add(1) != 1 {
				t.Error("two calls of Handler overlap")
			}
			defer inside.Add(-1)
			for _, e := range due {
				if at := time.Duration(e.Value.due.Load()); now < at {
					t.Errorf("fired %v early", at-now)
				}
				e.Value.fired.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// stop ends the wheel and writes what it returned into the accounts.
func stop(t *testing.T, w *Wheel[*lease]) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range w.Stop(ctx) {
		e.Value.returned.Add(1)
	}
	if ctx.Err() != nil {
		t.Error("Stop did not end")
	}
}

// TestExactlyOnceConcurrentSafe: each goroutine owns some leases and knows what became of every scheduling, while the wheel is
// stopped under its hands.
func TestExactlyOnceConcurrentSafe(t *testing.T) {
	for range 5 {
		w := stressWheel(t)
		leases := make([]lease, 400)
		var stopping atomic.Bool
		var done sync.WaitGroup
		for worker := range 8 {
			done.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(worker), 7))
				for {
					l := &leases[worker*50+rng.IntN(50)]
					if w.Cancel(&l.entry) {
						l.canceled.Add(1)
					} else if l.open() != 0 { // in a batch: its due time may not be touched yet
						if stopping.Load() { // or Stop has it
							return
						}
						runtime.Gosched()
						continue
					}
					// From a little in the past to more than a turn.
					due := w.Now() + rand.N(150*ms) - 10*ms
					l.entry.Value = l
					l.due.Store(int64(due))
					if w.schedule(&l.entry, due, rng.IntN(2) == 0) != nil {
						return
					}
					l.scheduled.Add(1)
				}
			})
		}
		time.Sleep(300 * ms)
		stopping.Store(true)
		stop(t, w)
		done.Wait()
		var total int64
		for i := range leases {
			l := &leases[i]
			total += l.scheduled.Load()
			if n := l.open(); n != 0 {
				t.Errorf("lease %d: scheduled %d, canceled %d, fired %d, returned %d", i,
					l.scheduled.Load(), l.canceled.Load(), l.fired.Load(), l.returned.Load())
			}
		}
		if total < 1000 || w.Len() != 0 {
			t.Errorf("%d schedulings, Len = %d: this proves little", total, w.Len())
		}
	}
}

// TestSharedEntriesConcurrentSafe: everybody moves and cancels the same entries. What was replaced nobody is told, so only the
// bounds of each account can be checked; the race detector and the links of the lists do the rest.
func TestSharedEntriesConcurrentSafe(t *testing.T) {
	w := stressWheel(t)
	leases := make([]lease, 40)
	for i := range leases {
		leases[i].entry.Value = &leases[i]
	}
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for {
				l := &leases[rand.N(len(leases))]
				if rand.N(3) == 0 {
					if w.Cancel(&l.entry) {
						l.canceled.Add(1)
					}
					continue
				}
				l.scheduled.Add(1) // before: it may fire at once
				err := w.schedule(&l.entry, w.Now()+rand.N(20*ms), rand.N(2) == 0)
				if err != nil {
					if l.scheduled.Add(-1); !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(400 * ms)
	stop(t, w)
	done.Wait()
	var fired int64
	for i := range leases {
		if n := leases[i].open(); n < 0 {
			t.Errorf("entry %d ended %d times more than it was scheduled", i, -n)
		}
		fired += leases[i].fired.Load()
	}
	if st := w.Stats(); int64(st.Fired) != fired || w.Len() != 0 {
		t.Errorf("Stats %+v, but %d calls; Len = %d", st, fired, w.Len())
	}
}

// TestBusyProcessors is the load under which the bare library fires most of its timers early: all processors burning, short
// and middling delays, real time. Nothing may be early or lost.
func TestBusyProcessors(t *testing.T) {
	if testing.Short() {
		t.Skip("burns all processors for a second")
	}
	var quit atomic.Bool
	var burners sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		burners.Go(func() {
			for !quit.Load() {
			}
		})
	}
	w := stressWheel(t)
	leases := make([]lease, 5000)
	for i := range leases {
		l := &leases[i]
		l.entry.Value = l
		due := w.Now() + rand.N(time.Second)
		l.due.Store(int64(due))
		l.scheduled.Add(1)
		if err := w.schedule(&l.entry, due, i%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
	for start := time.Now(); w.Len() > 0 && time.Since(start) < time.Minute; {
		time.Sleep(10 * ms)
	}
	quit.Store(true)
	burners.Wait()
	stop(t, w)
	for i := range leases {
		if leases[i].fired.Load() != 1 {
			t.Errorf("lease %d fired %d times", i, leases[i].fired.Load())
		}
	}
	t.Logf("%+v", w.Stats())
}

// TestStopConcurrentSafe: many wheels stopped while others schedule, from several goroutines at once. goleak sees what is left.
func TestStopConcurrentSafe(t *testing.T) {
	for range 50 {
		w, err := New(Config[int]{Granularity: 4 * ms, Horizon: 50 * ms, Handler: func([]*Entry[int]) {}})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i := 0; w.Schedule(&Entry[int]{}, time.Duration(i)*ms) == nil; i++ {
				}
			})
		}
		for range 2 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				w.Stop(ctx)
				if ctx.Err() != nil {
					t.Error("Stop did not end")
				}
			})
		}
		wg.Wait()
		if w.Len() != 0 {
			t.Fatalf("Len = %d after Stop", w.Len())
		}
	}
}
