package future

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// asked runs a combinator on a goroutine and gives back its outcome when it returned.
type asked[T any] struct {
	v   T
	err error
	ok  bool
}

func ask[T any](combine func() (T, error)) *asked[T] {
	a := new(asked[T])
	go func() {
		v, err := combine()
		*a = asked[T]{v, err, true}
	}()
	synctest.Wait()
	return a
}

const wentHome = "the caller went home"

func TestAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, ls, fs := several(3)
		a := ask(func() ([]int, error) { return All(t.Context(), fs...) })
		for _, i := range []int{2, 0} {
			ps[i].Settle(i*10, nil)
			synctest.Wait()
			if a.ok || ps[i].Claimed() {
				t.Fatal("All returned or claimed before all were there")
			}
		}
		ps[1].Settle(10, nil)
		synctest.Wait()
		if !a.ok || a.err != nil || !slices.Equal(a.v, []int{0, 10, 20}) {
			t.Errorf("All = %v, %v", a.v, a.err)
		}
		for i, l := range ls {
			l.want(t, []string{"claimed 0", "claimed 10", "claimed 20"}[i])
		}
	})
}

// The first error cancels the rest with itself as the cause: pending, ready, but not what somebody has.
func TestAllError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, ls, fs := several(4)
		a := ask(func() ([]int, error) { return All(t.Context(), fs...) })
		ps[1].Settle(10, nil)
		ps[2].Settle(20, nil)
		wantGet(t, fs[2], 20)
		ps[3].Settle(0, errBoom)
		synctest.Wait()
		if !a.ok || a.err != errBoom || a.v != nil {
			t.Errorf("All = %v, %v", a.v, a.err)
		}
		ls[0].want(t, "canceled 0 false: boom")
		ls[1].want(t, "canceled 10 true: boom")
		ls[2].want(t, "claimed 20")
		ls[3].want(t)
		wantGet(t, fs[0], 0, ErrCanceled, errBoom)
		wantGet(t, fs[2], 20)
	})
}

// Somebody cancels one of them while All claims: what All was first to claim goes back, the rest is canceled.
func TestAllCanceledWhileClaiming(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, ls, fs := several(4)
		th := &thief{victim: fs[2]}
		ps[1] = new(Promise[int])
		ps[1].Init(th)
		fs[1] = ps[1].Future()
		for i, p := range ps {
			p.Settle(i, nil)
		}
		wantGet(t, fs[0], 0) // somebody has this one
		vs, err := All(t.Context(), fs...)
		if vs != nil {
			t.Errorf("All = %v", vs)
		}
		wantErr(t, err, ErrCanceled, errCause)
		ls[0].want(t, "claimed 0") // and keeps it
		th.want(t, "claimed 1", "discarded 1")
		ls[2].want(t, "canceled 2 true: "+wentHome)
		ls[3].want(t, "canceled 3 true: future: canceled: "+wentHome)
	})
}

func TestAny(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, ls, fs := several(4)
		a := ask(func() (int, error) { return Any(t.Context(), fs...) })
		ps[0].Settle(0, errBoom)
		fs[1].Cancel(errCause)
		synctest.Wait()
		if a.ok {
			t.Fatal("Any returned an error while there was hope")
		}
		ps[2].Settle(20, nil)
		synctest.Wait()
		if !a.ok || a.v != 20 || a.err != nil {
			t.Errorf("Any = %v, %v", a.v, a.err)
		}
		ls[2].want(t, "claimed 20")
		ls[3].want(t, "canceled 0 false: another future was first: context canceled")
		wantGet(t, fs[3], 0, ErrCanceled, context.Canceled)
	})
}

// Two are ready: the first in the order of fs wins, the other's value goes back.
func TestAnyGivesBackTheOther(t *testing.T) {
	ps, ls, fs := several(3)
	ps[1].Settle(10, nil)
	ps[2].Settle(20, nil)
	if v, err := Any(t.Context(), fs...); v != 10 || err != nil {
		t.Errorf("Any = %v, %v", v, err)
	}
	ls[0].want(t, "canceled 0 false: another future was first: context canceled")
	ls[1].want(t, "claimed 10")
	ls[2].want(t, "canceled 20 true: another future was first: context canceled")
}

// All errors are there, in the order of fs, whatever order they came in.
func TestAnyNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, _, fs := several(3)
		a := ask(func() (int, error) { return Any(t.Context(), fs...) })
		ps[2].Settle(0, errors.New("two"))
		ps[0].Settle(0, errBoom)
		fs[1].Cancel(errCause)
		synctest.Wait()
		if !a.ok {
			t.Fatal("Any still waits")
		}
		wantErr(t, a.err, errBoom, ErrCanceled, errCause)
		if got, want := a.err.Error(), "boom\nfuture: canceled: the caller went home\ntwo"; got != want {
			t.Errorf("errors %q, want %q", got, want)
		}
	})
}

func TestRace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ps, ls, fs := several(3)
		a := ask(func() (int, error) { return Race(t.Context(), fs...) })
		ps[1].Settle(10, nil)
		synctest.Wait()
		if !a.ok || a.v != 10 || a.err != nil {
			t.Errorf("Race = %v, %v", a.v, a.err)
		}
		ls[0].want(t, "canceled 0 false: another future was first: context canceled")
		ls[1].want(t, "claimed 10")

		ps, ls, fs = several(3)
		a = ask(func() (int, error) { return Race(t.Context(), fs...) })
		ps[2].Settle(0, errBoom)
		ps[0].Settle(1, nil) // too late, although the racer may not have woken up yet
		synctest.Wait()
		if !a.ok || a.err != errBoom {
			t.Errorf("Race = %v, %v", a.v, a.err)
		}
		ls[0].want(t, "canceled 1 true: boom")
		ls[1].want(t, "canceled 0 false: boom")
	})
}

// When ctx ends, everything that nobody took is canceled with its cause.
func TestCombinatorsCtx(t *testing.T) {
	combine := map[string]func(ctx context.Context, fs ...*Future[int]) error{
		"All":  func(ctx context.Context, fs ...*Future[int]) error { _, err := All(ctx, fs...); return err },
		"Any":  func(ctx context.Context, fs ...*Future[int]) error { _, err := Any(ctx, fs...); return err },
		"Race": func(ctx context.Context, fs ...*Future[int]) error { _, err := Race(ctx, fs...); return err },
	}
	for name, combine := range combine {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errCause)
				defer cancel()
				ps, ls, fs := several(3)
				if name == "All" {
					ps[0].Settle(7, nil) // does not end All
				}
				if err := combine(ctx, fs...); err != errCause {
					t.Errorf("error %v, want the cause of ctx", err)
				}
				if name == "All" {
					ls[0].want(t, "canceled 7 true: "+wentHome)
				} else {
					ls[0].want(t, "canceled 0 false: "+wentHome)
				}
				for _, l := range ls[1:] {
					l.want(t, "canceled 0 false: "+wentHome)
				}
				// What is there beats a ctx that is done, however often the dice are thrown.
				for range 50 {
					if err := combine(ctx, Resolved(1)); err != nil {
						t.Fatalf("error %v although the value was there", err)
					}
				}
			})
		})
	}
}

func TestCombinatorsOfNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if vs, err := All[int](ctx); vs == nil || len(vs) != 0 || err != nil {
		t.Errorf("All() = %v, %v", vs, err)
	}
	if _, err := Any[int](ctx); err != ErrNoFutures {
		t.Errorf("Any() = %v", err)
	}
	if _, err := Race[int](ctx); err != ErrNoFutures {
		t.Errorf("Race() = %v", err)
	}
	for range Completed[int](ctx) {
		t.Error("Completed() has an element")
	}
}

// The same future twice is one future: claimed once, and its own loser never.
func TestSameFutureTwice(t *testing.T) {
	p, l := kept()
	f := p.Future()
	p.Settle(1, nil)
	if vs, err := All(t.Context(), f, f); err != nil || !slices.Equal(vs, []int{1, 1}) {
		t.Errorf("All = %v, %v", vs, err)
	}
	if v, err := Race(t.Context(), f, f); v != 1 || err != nil {
		t.Errorf("Race = %v, %v", v, err)
	}
	l.want(t, "claimed 1")
	indexes := 0
	for range Completed(t.Context(), f, f) {
		indexes++
	}
	if indexes != 2 {
		t.Errorf("Completed gave %d of 2", indexes)
	}
}
