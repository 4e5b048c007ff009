package wheel

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPanics(t *testing.T) {
	var told []any
	var stacks []string
	cfg := Config[int]{
		Lag: func(time.Duration) { panic("in Lag") },
		Panic: func(value any, stack []byte) {
			told, stacks = append(told, value), append(stacks, string(stack))
		},
	}
	inBubble(t, cfg, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		r.then = func(e *Entry[int]) {
			if e.Value%2 == 1 {
				explode(e.Value)
			}
		}
		for i := range 6 {
			must(t, w.schedule(&Entry[int]{Value: i}, time.Duration(i+1)*time.Second, i < 3))
		}
		nap(10 * time.Second)
		if got := r.all(); len(got) != 6 {
			t.Fatalf("%d fired after panics, want 6", len(got))
		}
		counts := make(map[any]int)
		for i, v := range told {
			counts[v]++
			if n, ok := v.(int); ok && !strings.Contains(stacks[i], "explode") {
				t.Errorf("stack of %d does not show where it began:\n%s", n, stacks[i])
			}
		}
		// A panic in Lag does not cost the batch. The far exact entries pass through slots as well: five or six lags.
		if counts[1] != 1 || counts[3] != 1 || counts[5] != 1 || counts["in Lag"] < 3 {
			t.Errorf("told of %v", counts)
		}
	})
}

//go:noinline
func explode(n int) { panic(n) }

// TestPanicInPanic: even the last line of defence may fail without ending the process; the default logs.
func TestPanicInPanic(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)

	for _, tt := range []struct {
		name   string
		report func(any, []byte)
		want   string
	}{
		{"default", nil, "panic=first"},
		{"panics too", func(any, []byte) { panic("second") }, "panic=second first=first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log.Reset()
			inBubble(t, Config[int]{Panic: tt.report}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
				r.then = func(*Entry[int]) { panic("first") }
				must(t, w.Schedule(&Entry[int]{}, 0))
				must(t, w.Schedule(&Entry[int]{}, time.Second))
				nap(2 * time.Second)
				if got := r.all(); len(got) != 2 || strings.Count(log.String(), tt.want) != 2 {
					t.Errorf("%d fired, log:\n%s", len(got), log.String())
				}
			})
		})
	}
}

// TestGoexit: a Handler that ends its goroutine (t.FailNow does) leaves the rest to another one, and Stop does not hang.
func TestGoexit(t *testing.T) {
	inBubble(t, Config[int]{}, newLibrary, func(t *testing.T, w *Wheel[int], r *recorder) {
		first := true
		r.then = func(*Entry[int]) {
			if first {
				first = false
				r.inside.Add(-1)
				defer r.inside.Add(1)
				runtime.Goexit()
			}
		}
		entries := make([]Entry[int], 600)
		for i := range entries {
			must(t, w.Schedule(&entries[i], 1300*ms)) // not when the guard runs
		}
		must(t, w.ScheduleExact(&Entry[int]{}, 1500*ms))
		nap(2 * time.Second)
		if got := r.all(); len(got) != 601 {
			t.Errorf("%d fired, want 601", len(got))
		} else if last := got[599]; last.at != 1300*ms {
			t.Errorf("the rest of the slot had to wait until %v", last.at)
		}
	})
}

// TestGoexitDuringStop: the batch in flight ends by Goexit while Stop waits for it.
func TestGoexitDuringStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		w, err := New(Config[int]{Handler: func([]*Entry[int]) {
			<-leave
			runtime.Goexit()
		}})
		must(t, err)
		must(t, w.Schedule(&Entry[int]{}, 0))
		nap(time.Second)
		time.AfterFunc(time.Second, func() { close(leave) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if w.Stop(ctx); ctx.Err() != nil {
			t.Error("Stop waited for a Handler that had left")
		}
	})
}
