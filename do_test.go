package holdfast_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Do locks, runs, unlocks, whatever the function does.
func TestDo(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1200 * time.Millisecond
	rt := newRuntime(t, s, lease)
	l := rt.Lock("n")
	free := func(t *testing.T) {
		t.Helper()
		if r.exists("n") {
			t.Fatal("still locked after Do")
		}
	}

	t.Run("its ctx", func(t *testing.T) {
		ctx := within(t, patience)
		var inner context.Context
		err := l.Do(ctx, func(held context.Context) error {
			inner = held
			deadline, ok := held.Deadline()
			if want, _ := ctx.Deadline(); !ok || !deadline.Equal(want) {
				t.Error("the ctx's deadline is missing")
			}
			if held.Err() != nil || len(r.fields("n")) != 1 {
				t.Errorf("running unlocked: %v %v", held.Err(), r.fields("n"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		mustEnd(t, inner, holdfast.ErrReleased)
		free(t)
	})
	t.Run("a nested Do re-enters", func(t *testing.T) {
		depth := 0
		err := l.Do(soon(t), func(ctx context.Context) error {
			return l.Do(ctx, func(ctx context.Context) error {
				return l.Do(ctx, func(ctx context.Context) error {
					for _, n := range r.fields("n") {
						if n != "3" {
							t.Errorf("count %s, want 3", n)
						}
						depth++
					}
					_, err := l.TryLock(holdfast.ContextWithoutOwner(ctx))
					mustBe(t, err, holdfast.ErrNotAcquired)
					return nil
				})
			})
		})
		if err != nil || depth != 1 {
			t.Fatalf("%v, the innermost ran %d times", err, depth)
		}
		free(t)
	})
	t.Run("its error", func(t *testing.T) {
		oops := errors.New("oops")
		mustBe(t, l.Do(soon(t), func(context.Context) error { return oops }), oops)
		free(t)
	})
	t.Run("a panic goes on, unlocked", func(t *testing.T) {
		got := panicOf(func() { _ = l.Do(soon(t), func(context.Context) error { panic("oops") }) })
		if got != "oops" {
			t.Errorf("recovered %v", got)
		}
		free(t)
	})
	t.Run("the caller's cancel reaches the function, not the unlock", func(t *testing.T) {
		ctx, cancel := context.WithCancel(soon(t))
		err := l.Do(ctx, func(held context.Context) error {
			cancel()
			<-held.Done()
			return context.Cause(held)
		})
		mustBe(t, err, context.Canceled)
		mustNotBe(t, err, holdfast.ErrLost, holdfast.ErrNotHeld)
		free(t)
	})
	t.Run("lost while it runs", func(t *testing.T) {
		oops := errors.New("oops")
		for name, give := range map[string]error{"fn returns nil": nil, "fn returns its own error": oops} {
			err := l.Do(soon(t), func(held context.Context) error {
				s.MustDo("DEL", "n")
				mustEnd(t, held, holdfast.ErrLost)
				return give
			})
			if !errors.Is(err, holdfast.ErrLost) || give != nil && !errors.Is(err, give) {
				t.Errorf("%s: Do returned %v, which must match ErrLost and %v", name, err, give)
			}
		}
		free(t)
	})
	t.Run("not acquired", func(t *testing.T) {
		r.foreign("n", stranger, "1", "60000")
		err := l.Do(soon(t), func(context.Context) error { t.Error("ran without the lock"); return nil },
			holdfast.WaitFor(0), holdfast.OnReleased(func(*holdfast.Hold, error) { t.Error("OnReleased without a hold") }))
		mustBe(t, err, holdfast.ErrNotAcquired)
		s.MustDo("DEL", "n")
	})
}

// The hooks run around the function, in order, and hear how the unlock went.
func TestDoHooks(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 1200*time.Millisecond)
	var order []string
	var held *holdfast.Hold
	run := func(lose bool) (unlockErr error) {
		order = nil
		err := rt.Lock("n").Do(soon(t), func(ctx context.Context) error {
			order = append(order, "fn")
			if lose {
				s.MustDo("DEL", "n")
				<-ctx.Done()
			}
			return nil
		}, holdfast.OnAcquired(func(h *holdfast.Hold) {
			held = h
			order = append(order, "acquired")
		}), holdfast.OnReleased(func(h *holdfast.Hold, err error) {
			if h != held {
				t.Error("another hold")
			}
			unlockErr = err
			order = append(order, "released")
		}))
		if (err != nil) != lose {
			t.Errorf("Do: %v", err)
		}
		if len(order) != 3 || order[0] != "acquired" || order[1] != "fn" || order[2] != "released" {
			t.Errorf("order %v", order)
		}
		return unlockErr
	}
	if err := run(false); err != nil {
		t.Errorf("OnReleased was told %v", err)
	}
	mustBe(t, run(true), holdfast.ErrLost)
}

// Locker excludes like any sync.Locker, and panics where that cannot be had.
func TestLocker(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 5*time.Second).Lock("n")
	shared := l.Locker(soon(t))
	n := 0 // the race detector watches it too
	var wg sync.WaitGroup
	for i := range 6 {
		locker := shared
		if i%2 == 1 {
			locker = l.Locker(soon(t))
		}
		wg.Go(func() {
			for range 10 {
				locker.Lock()
				n++
				locker.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 60 || r.exists("n") {
		t.Errorf("counted %d of 60, exists %v", n, r.exists("n"))
	}
	if got, _ := panicOf(shared.Unlock).(error); !errors.Is(got, holdfast.ErrNotHeld) {
		t.Errorf("Unlock of an unlocked Locker panicked with %v", got)
	}
	r.foreign("n", stranger, "1", "60000")
	impatient := l.Locker(within(t, 100*time.Millisecond))
	if got, _ := panicOf(impatient.Lock).(error); !errors.Is(got, holdfast.ErrNotAcquired) {
		t.Errorf("Lock without success panicked with %v", got)
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
