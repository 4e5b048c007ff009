package wheel

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestDueTimes gives single entries and the very instant at which they must fire, with the real library.
func TestDueTimes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		exact bool
		start time.Duration // when it is scheduled
		due   time.Duration
		want  time.Duration
	}{
		{"coarse, rounded up", false, 0, 4210 * ms, 4300 * ms},
		{"coarse, on the slot", false, 0, 4200 * ms, 4200 * ms},
		{"coarse, next slot", false, 110 * ms, 120 * ms, 200 * ms},
		{"coarse, one ns away", false, 110 * ms, 110*ms + 1, 200 * ms},
		{"coarse, now", false, 110 * ms, 110 * ms, 110 * ms},
		{"coarse, past", false, time.Minute, 5 * ms, time.Minute},
		{"coarse, negative", false, 110 * ms, math.MinInt64, 110 * ms},
		{"coarse, end of the ring", false, 110 * ms, 64200 * ms, 64200 * ms},
		{"coarse, two turns", false, 110 * ms, 130*time.Second + 1, 130100 * ms},
		{"coarse, many turns", false, 110 * ms, time.Hour - 1, time.Hour},
		{"exact, near", true, 110 * ms, 137*ms + 5, 137*ms + 5},
		{"exact, two slots", true, 110 * ms, 310 * ms, 310 * ms},
		{"exact, in the ring", true, 110 * ms, 4237*ms + 5, 4237*ms + 5},
		{"exact, on the slot", true, 0, 4200 * ms, 4200 * ms},
		{"exact, now", true, 110 * ms, 110 * ms, 110 * ms},
		{"exact, past", true, time.Minute, 0, time.Minute},
		{"exact, negative", true, 110 * ms, math.MinInt64, 110 * ms},
		{"exact, two turns", true, 110 * ms, 130*time.Second + 1, 130*time.Second + 1},
		{"exact, many turns", true, 110 * ms, time.Hour - 1, time.Hour - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
				nap(tt.start)
				e := &Entry[int]{Value: 7}
				if tt.exact {
					must(t, w.ScheduleExact(e, tt.due))
				} else {
					must(t, w.Schedule(e, tt.due))
				}
				if tt.want > w.Now() {
					if w.Len() != 1 {
						t.Errorf("Len = %d while scheduled", w.Len())
					}
					nap(tt.want - w.Now() - 1)
					if got := r.all(); len(got) != 0 {
						t.Fatalf("fired at %v, want %v", got[0].at, tt.want)
					}
				}
				nap(2 * time.Minute)
				if got := r.all(); len(got) != 1 || got[0].at != tt.want || got[0].id != 7 {
					t.Errorf("fired %+v, want once at %v", got, tt.want)
				}
				if st := w.Stats(); w.Len() != 0 || st != (Stats{Fired: 1}) {
					t.Errorf("Len = %d, Stats = %+v", w.Len(), st)
				}
			})
		})
	}
}

func TestForEver(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		coarse, exact := &Entry[int]{}, &Entry[int]{}
		must(t, w.Schedule(coarse, math.MaxInt64))
		must(t, w.ScheduleExact(exact, math.MaxInt64))
		nap(30 * time.Minute)
		if got := r.all(); len(got) != 0 || w.Len() != 2 {
			t.Errorf("fired %+v, Len = %d", got, w.Len())
		}
		if !w.Cancel(coarse) || !w.Cancel(exact) {
			t.Error("Cancel says that it was not scheduled")
		}
	})
}

func TestOneSlotIsOneBatch(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		entries := make([]Entry[int], 20)
		for i := range entries { // far away and near: through the library and through the runtime timer
			entries[i].Value = i
			must(t, w.Schedule(&entries[i], time.Duration(5001+i)*ms))
			if i == 9 {
				nap(4960 * ms)
			}
		}
		exact := make([]Entry[int], 5)
		for i := range exact {
			exact[i].Value = 100 + i
			must(t, w.ScheduleExact(&exact[i], 5042*ms))
		}
		nap(time.Second)
		got := r.all()
		if len(got) != 25 || len(r.sizes) != 2 || r.sizes[0] != 5 || r.sizes[1] != 20 {
			t.Fatalf("batches of %v, want 5 and 20", r.sizes)
		}
		for i := range 20 {
			if f := got[5+i]; f.id != i || f.at != 5100*ms {
				t.Errorf("place %d of the slot: entry %d at %v", i, f.id, f.at)
			}
		}
	})
}

func TestChunks(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		entries := make([]Entry[int], 600)
		last := &entries[599]
		canceled, own := false, true
		r.then = func(e *Entry[int]) {
			if e.Value == 0 { // still waiting behind two batches
				canceled = w.Cancel(last)
				own = w.Cancel(e) || w.Cancel(&entries[255])
			}
		}
		for i := range entries {
			entries[i].Value = i
			must(t, w.Schedule(&entries[i], time.Second))
		}
		nap(2 * time.Second)
		if !slices.Equal(r.sizes, []int{256, 256, 87}) || !canceled {
			t.Errorf("batches of %v, canceled %v", r.sizes, canceled)
		}
		if own {
			t.Error("Cancel took back an entry of the batch that Handler has")
		}
		for i, e := range w.batch[:cap(w.batch)] {
			if e != nil {
				t.Fatalf("place %d still keeps an entry alive", i)
			}
		}
	})
}

func TestReschedule(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		e := &Entry[int]{}
		moves := []struct {
			schedule func(*Entry[int], time.Duration) error
			due      time.Duration
		}{
			{w.Schedule, 30 * time.Second},
			{w.ScheduleExact, 20 * ms},
			{w.ScheduleExact, 15 * ms},
			{w.Schedule, time.Hour},
			{w.ScheduleExact, 5 * time.Second},
			{w.Schedule, 20 * ms},
			{w.Schedule, 4 * time.Second},
		}
		for _, m := range moves {
			must(t, m.schedule(e, m.due))
			if w.Len() != 1 {
				t.Fatalf("Len = %d after a move", w.Len())
			}
		}
		nap(2 * time.Hour)
		if got := r.all(); len(got) != 1 || got[0].at != 4*time.Second {
			t.Errorf("fired %+v, want once at 4s", got)
		}
	})
}

// TestRenewal is what the wheel is for: an entry that re-arms itself from Handler, for an hour.
func TestRenewal(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		r.then = func(e *Entry[int]) {
			if err := w.Schedule(e, w.Now()+10*time.Second); err != nil {
				t.Error(err)
			}
		}
		must(t, w.Schedule(&Entry[int]{}, 10*time.Second))
		nap(time.Hour + 1)
		got := r.all()
		if len(got) != 360 {
			t.Fatalf("%d renewals, want 360", len(got))
		}
		for i, f := range got {
			if f.at != time.Duration(i+1)*10*time.Second {
				t.Fatalf("renewal %d at %v", i, f.at)
			}
		}
		if st := w.Stats(); st.Early+st.Stalled != 0 {
			t.Errorf("an honest library in a bubble: %+v", st)
		}
	})
}

// TestBusyHandlerStarvesNobody: an entry that is due again at once, for ever, must not keep a slot from its turn.
func TestBusyHandlerStarvesNobody(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		rounds, other := 0, 0
		r.then = func(e *Entry[int]) {
			if e.Value == 1 {
				other = rounds
				return
			}
			rounds++
			if other == 0 && rounds < 10_000 {
				_ = w.ScheduleExact(e, 0)
			}
		}
		busy := make([]Entry[int], batchSize)
		for i := range busy {
			must(t, w.ScheduleExact(&busy[i], time.Second))
		}
		must(t, w.Schedule(&Entry[int]{Value: 1}, time.Second))
		nap(2 * time.Second)
		if other == 0 || other > 3*batchSize {
			t.Errorf("the coarse entry came after %d busy ones", other)
		}
	})
}

func TestCancel(t *testing.T) {
	for _, tt := range []struct {
		name  string
		exact bool
		due   time.Duration
		at    time.Duration // when it is canceled, 0 at once
		want  bool
	}{
		{"in a slot", false, 5 * time.Second, 0, true},
		{"in the ring, exact", true, 5 * time.Second, 0, true},
		{"in the heap", true, 20 * ms, 0, true},
		{"moved from ring to heap", true, 5050 * ms, 5020 * ms, true},
		{"carried over a turn", false, 100 * time.Second, 70 * time.Second, true},
		{"just before its slot", false, 5 * time.Second, 5*time.Second - 1, true},
		{"after it fired", false, 5 * time.Second, 6 * time.Second, false},
		{"after it fired, exact", true, 20 * ms, 30 * ms, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
				e := &Entry[int]{}
				if w.Cancel(e) {
					t.Error("canceled a fresh entry")
				}
				must(t, w.schedule(e, tt.due, tt.exact))
				nap(tt.at)
				if got := w.Cancel(e); got != tt.want {
					t.Errorf("Cancel = %v, want %v", got, tt.want)
				}
				if w.Cancel(e) || w.Len() != 0 {
					t.Errorf("still there: Len = %d", w.Len())
				}
				nap(5 * time.Minute)
				if got := len(r.all()); got != 1 && !tt.want || got != 0 && tt.want {
					t.Errorf("fired %d times", got)
				}
				must(t, w.Schedule(e, w.Now())) // usable again
				settle()
				if w.Len() != 0 {
					t.Error("did not fire again")
				}
			})
		})
	}
}

func TestLag(t *testing.T) {
	var lags []time.Duration
	cfg := Config[int]{Lag: func(d time.Duration) { lags = append(lags, d) }}
	inBubble(t, cfg, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		gone := &Entry[int]{}
		must(t, w.Schedule(gone, 3*time.Second))
		w.Cancel(gone) // an empty slot has no lag
		for i := range 3 {
			must(t, w.Schedule(&Entry[int]{Value: i}, time.Second))
		}
		must(t, w.Schedule(&Entry[int]{}, 2*time.Second))
		must(t, w.ScheduleExact(&Entry[int]{}, 50*ms)) // not in a slot
		nap(5 * time.Second)
		if !slices.Equal(lags, []time.Duration{0, 0}) {
			t.Errorf("lags %v, want two of zero", lags)
		}
	})
}

func TestStopReturnsPending(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		dues := []time.Duration{0, 20 * ms, 5 * time.Second, 5001 * ms, 63 * time.Second, time.Hour, math.MaxInt64}
		entries := make([]Entry[int], 2*len(dues))
		for i := range entries {
			entries[i].Value = i
			must(t, w.schedule(&entries[i], dues[i/2], i%2 == 0))
		}
		settle() // the two that are due at 0 fire
		pending := w.Stop(context.Background())
		var ids []int
		for _, e := range pending {
			ids = append(ids, e.Value)
			if w.Cancel(e) {
				t.Errorf("entry %d is still scheduled", e.Value)
			}
		}
		slices.Sort(ids)
		if len(ids) != 12 || ids[0] != 2 || !slices.Equal(slices.Compact(ids), ids) {
			t.Errorf("pending %v", ids)
		}
		if again := w.Stop(context.Background()); again != nil {
			t.Errorf("second Stop returned %d entries", len(again))
		}
		for _, schedule := range []func(*Entry[int], time.Duration) error{w.Schedule, w.ScheduleExact} {
			if err := schedule(&entries[3], 0); !errors.Is(err, ErrClosed) {
				t.Errorf("after Stop: %v", err)
			}
		}
		nap(10 * time.Minute)
		if got := r.all(); len(got) != 2 {
			t.Errorf("%d fired, want the two from before Stop", len(got))
		}
	})
}

func TestStopWaitsForHandler(t *testing.T) {
	enter, leave := make(chan int), make(chan struct{})
	cfg := Config[int]{Handler: func(due []*Entry[int]) {
		enter <- len(due)
		<-leave
	}}
	synctest.Test(t, func(t *testing.T) {
		enter, leave = make(chan int), make(chan struct{})
		w, err := New(cfg)
		must(t, err)
		entries := make([]Entry[int], 600)
		for i := range entries {
			must(t, w.Schedule(&entries[i], time.Second))
		}
		if n := <-enter; n != batchSize {
			t.Fatalf("first batch of %d", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := w.Now()
		if pending := w.Stop(ctx); len(pending) != 600-batchSize {
			t.Errorf("%d pending, want %d", len(pending), 600-batchSize)
		}
		if ctx.Err() == nil || w.Now()-start != time.Minute {
			t.Errorf("Stop returned after %v, before Handler and ctx", w.Now()-start)
		}
		stopped := make(chan struct{})
		for range 2 {
			go func() {
				w.Stop(context.Background())
				stopped <- struct{}{}
			}()
		}
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Stop did not wait for Handler")
		default:
		}
		close(leave)
		<-stopped
		<-stopped
		if st := w.Stats(); st.Fired != batchSize {
			t.Errorf("%d fired: a batch began after Stop", st.Fired)
		}
	})
}

// TestBaseInThePast: due times may count from long before the wheel was made.
func TestBaseInThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := time.Now()
		nap(1000*time.Hour + 30*ms)
		r := &recorder{}
		w, err := New(Config[int]{Base: base, Handler: r.handle})
		must(t, err)
		r.wheel = w
		must(t, w.Schedule(&Entry[int]{}, w.Now()+10*time.Second))
		nap(time.Minute)
		if got := r.all(); len(got) != 1 || got[0].at != 1000*time.Hour+10100*ms {
			t.Errorf("fired %+v", got)
		}
		w.Stop(context.Background())
	})
}
