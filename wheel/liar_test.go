package wheel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// liar is a driver that does as its functions please.
type liar struct {
	onAfter func(d time.Duration, f func())
	onStop  func()
}

func (l liar) after(d time.Duration, f func()) { l.onAfter(d, f) }

func (l liar) stop() {
	if l.onStop != nil {
		l.onStop()
	}
}

// lying makes a driver of one function.
func lying(onAfter func(d time.Duration, f func())) func(geometry) driver {
	return func(geometry) driver { return liar{onAfter: onAfter} }
}

var (
	neverFires   = lying(func(time.Duration, func()) {})
	firesAtOnce  = lying(func(_ time.Duration, f func()) { f() })
	firesTwice   = lying(func(d time.Duration, f func()) { time.AfterFunc(d, f); time.AfterFunc(d, f) })
	firesForTwo  = lying(func(d time.Duration, f func()) { f(); time.AfterFunc(d/2, f); time.AfterFunc(d, f) })
	firesTooLate = lying(func(d time.Duration, f func()) { time.AfterFunc(d+3*time.Second, f) })
)

// TestLiars: whatever the driver does, nothing is early, nothing comes twice, and only a driver that is late or dead makes
// anything late, by at most what the guard allows.
func TestLiars(t *testing.T) {
	const bound = guardEvery + stallGrace // on top of a granularity
	for _, tt := range []struct {
		name   string
		driver func(geometry) driver
		late   time.Duration // allowed on top of a granularity
		early  bool          // Stats.Early must count
		stall  bool          // Stats.Stalled must count
	}{
		{"honest", newLibrary, 0, false, false},
		{"never", neverFires, bound, false, true},
		{"at once", firesAtOnce, 0, true, false},
		{"twice", firesTwice, 0, false, false},
		{"three times", firesForTwo, 0, true, false},
		{"too late", firesTooLate, bound, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Config[int]{}, tt.driver, func(t *testing.T, w *Wheel[int], r *recorder) {
				const n = 400
				entries := make([]Entry[int], 2*n)
				for i := range entries { // even coarse, odd exact, up to 60 s
					entries[i].Value = i
					must(t, w.schedule(&entries[i], time.Duration(i/2)*151*ms, i%2 == 1))
				}
				nap(2 * time.Minute)
				seen := make(map[int]bool)
				for _, f := range r.all() {
					due := time.Duration(f.id/2) * 151 * ms
					granularity := 100 * ms
					if f.id%2 == 1 && tt.late == 0 {
						granularity = 0
					}
					if f.at < due || f.at > due+granularity+tt.late {
						t.Errorf("entry %d due at %v fired at %v", f.id, due, f.at)
					}
					if seen[f.id] {
						t.Errorf("entry %d fired twice", f.id)
					}
					seen[f.id] = true
				}
				if len(seen) != 2*n {
					t.Errorf("%d entries fired, want %d", len(seen), 2*n)
				}
				st := w.Stats()
				if st.Fired != 2*n || (st.Early > 0) != tt.early || (st.Stalled > 0) != tt.stall {
					t.Errorf("Stats = %+v", st)
				}
			})
		})
	}
}

// TestOldWakeUp: a call that was meant for an earlier use of a slot must not end a later one.
func TestOldWakeUp(t *testing.T) {
	var mu sync.Mutex
	var calls []func()
	var lags []time.Duration
	keep := lying(func(d time.Duration, f func()) {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, f)
		time.AfterFunc(d, f)
	})
	cfg := Config[int]{Granularity: 100 * ms, Horizon: 800 * ms, Lag: func(d time.Duration) { lags = append(lags, d) }}
	inBubble(t, cfg, keep, func(t *testing.T, w *Wheel[int], r *recorder) {
		turn := time.Duration(w.geo.slots) * w.geo.gran
		e := &Entry[int]{}
		must(t, w.Schedule(e, 500*ms))
		synctest.Wait()
		mu.Lock()
		first := calls[0]
		mu.Unlock()
		nap(600 * ms)
		nap(500*ms + turn - w.Now() - 700*ms) // the same place is within the horizon again
		must(t, w.Schedule(e, 500*ms+turn))
		synctest.Wait()
		before := w.Stats()
		first()
		if got := w.Stats(); got != before {
			t.Errorf("the old call counted: %+v", got)
		}
		nap(time.Second)
		if got := r.all(); len(got) != 2 || got[1].at != 500*ms+turn {
			t.Errorf("fired %+v, want the second at %v", got, 500*ms+turn)
		}
		if !slices.Equal(lags, []time.Duration{0, 0}) {
			t.Errorf("lags %v: the slot fired when the old call came", lags)
		}
	})
}

// TestHungDriver: a driver that never returns stops neither callers, nor delivery, nor a Stop with a deadline.
func TestHungDriver(t *testing.T) {
	var release chan struct{}
	hangs := func(geometry) driver {
		release = make(chan struct{})
		return liar{onAfter: func(time.Duration, func()) { <-release }}
	}
	inBubble(t, Config[int]{}, hangs, func(t *testing.T, w *Wheel[int], r *recorder) {
		entries := make([]Entry[int], 100)
		for turn := range 10 { // over several turns of the ring: the list of orders must not grow without end
			for i := range entries {
				entries[i].Value = i
				must(t, w.Schedule(&entries[i], w.Now()+time.Duration(i+5)*100*ms))
			}
			nap(90 * time.Second)
			if got := len(r.all()); got != (turn+1)*len(entries) {
				t.Fatalf("turn %d: %d fired", turn, got)
			}
		}
		if n := len(w.orders); n > len(w.ring) {
			t.Errorf("%d orders for %d slots", n, len(w.ring))
		}
		must(t, w.Schedule(&entries[0], w.Now()+time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if pending := w.Stop(ctx); len(pending) != 1 || ctx.Err() == nil {
			t.Errorf("%d pending, ctx: %v", len(pending), ctx.Err())
		}
		close(release) // the Stop at the end of the bubble sees the drive loop out
	})
}

// TestTakenPlace: a slot whose place on the ring is still in use by an older one, which should not happen, costs time but
// neither the entry nor its bounds.
func TestTakenPlace(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		nap(100 * time.Second)
		w.mu.Lock()
		for i := range w.ring { // as if nobody, not even the guard, had ever woken them
			w.ring[i].state, w.ring[i].number = inNear, int64(i)
		}
		w.mu.Unlock()
		coarse, exact := &Entry[int]{Value: 1}, &Entry[int]{Value: 2}
		must(t, w.Schedule(coarse, 110050*ms))
		must(t, w.ScheduleExact(exact, 120050*ms))
		nap(time.Minute)
		got := r.all()
		if len(got) != 2 || got[0].at < 110050*ms || got[0].at > 110150*ms || got[1].at != 120050*ms {
			t.Errorf("fired %+v", got)
		}
	})
}

// TestGuardHeldUp: a guard that comes late, and looks at a whole turn, must not take a slot of the next turn for one that
// was forgotten.
func TestGuardHeldUp(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		nap(100 * time.Second)
		must(t, w.Schedule(&Entry[int]{}, 164*time.Second))
		synctest.Wait()
		w.mu.Lock()
		w.checked = 0
		w.mu.Unlock()
		w.onGuard()
		nap(2 * time.Minute)
		if got := r.all(); len(got) != 1 || got[0].at != 164*time.Second {
			t.Errorf("fired %+v", got)
		}
		if st := w.Stats(); st.Stalled != 0 {
			t.Errorf("%d slots counted as stalled", st.Stalled)
		}
	})
}

// TestDriverContract: the drive loop asks for one call per slot in use, never for a delay below two ticks or beyond the
// first level, never from two goroutines, and stops the driver last and once.
func TestDriverContract(t *testing.T) {
	var inside, stops, slots, pulses atomic.Int32
	var bad []string
	strict := func(g geometry) driver {
		return liar{
			onAfter: func(d time.Duration, f func()) {
				if inside.Add(1) != 1 || stops.Load() != 0 {
					bad = append(bad, "call beside another, or after stop")
				}
				defer inside.Add(-1)
				if d < g.shortest() || d >= time.Duration(g.ticks)*g.tick-g.pulse {
					bad = append(bad, "delay "+d.String())
				}
				if d == g.pulse {
					pulses.Add(1)
				} else {
					slots.Add(1)
				}
				time.AfterFunc(d, f)
			},
			onStop: func() { stops.Add(1) },
		}
	}
	cfg := Config[int]{Granularity: 20 * ms, Horizon: 2 * time.Second}
	inBubble(t, cfg, strict, func(t *testing.T, w *Wheel[int], r *recorder) {
		entries := make([]Entry[int], 1000)
		for i := range entries { // ten in each of the slots 1 to 100
			must(t, w.Schedule(&entries[i], time.Duration(i%100)*20*ms+7*ms))
		}
		for i := range entries { // emptied and filled again: they stay armed
			w.Cancel(&entries[i])
			must(t, w.Schedule(&entries[i], time.Duration(i%100)*20*ms+9*ms))
		}
		nap(1900 * ms)
		must(t, w.Schedule(&Entry[int]{}, time.Hour)) // a turn is 100 slots, give or take one
		nap(time.Minute)
		// Slot 1 is too near for the driver; 61.9 s of pulses twice a second, and 30 turns at most.
		if n := slots.Load(); n < 98+28 || n > 99+32 {
			t.Errorf("%d slots were put on the driver", n)
		}
		if n := pulses.Load(); n < 122 || n > 124 {
			t.Errorf("%d heartbeats", n)
		}
		w.Stop(context.Background())
		w.Stop(context.Background())
		if stops.Load() != 1 || len(bad) != 0 {
			t.Errorf("stopped %d times; %v", stops.Load(), bad)
		}
	})
}
