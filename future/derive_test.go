package future

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
)

func TestMap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := kept()
		d := Map(p.Future(), func(v int) (string, error) { return strconv.Itoa(v), nil })
		synctest.Wait()
		wantPending(t, d)
		p.Settle(7, nil)
		synctest.Wait()
		wantGet(t, d, "7")
		l.want(t, "claimed 7")
		if d.Cancel(nil) {
			t.Error("canceled a derived value that somebody has")
		}
		l.want(t)
	})
}

// Errors pass through, and fn does not run.
func TestDerivedErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		toMap := func(f *Future[int]) *Future[string] {
			return Map(f, func(int) (string, error) { t.Error("fn of Map ran"); return "", nil })
		}
		toThen := func(f *Future[int]) *Future[string] {
			return Then(f, func(int) *Future[string] { t.Error("fn of Then ran"); return nil })
		}
		for _, derive := range []func(*Future[int]) *Future[string]{toMap, toThen} {
			d := derive(Failed[int](errBoom))
			synctest.Wait()
			wantGet(t, d, "", errBoom)

			p := new(Promise[int])
			d = derive(p.Future())
			p.Future().Cancel(errCause)
			synctest.Wait()
			wantGet(t, d, "", ErrCanceled, errCause)
		}
		d := Map(Resolved(1), func(int) (int, error) { return 0, errBoom })
		d2 := Then(Resolved(1), func(int) *Future[int] { return Failed[int](errBoom) })
		d3 := Then(Resolved(1), func(int) *Future[int] { return nil })
		synctest.Wait()
		wantGet(t, d, 0, errBoom)
		wantGet(t, d2, 0, errBoom)
		wantGet(t, d3, 0, errNoInner)
	})
}

// Canceling what Map or Then made cancels the source, pending or ready, and fn does not run.
func TestDerivedCancelBeforeDelivery(t *testing.T) {
	derive := map[string]func(t *testing.T, f *Future[int]) *Future[int]{
		"Map": func(t *testing.T, f *Future[int]) *Future[int] {
			return Map(f, func(v int) (int, error) { t.Error("fn ran"); return v, nil })
		},
		"Then": func(t *testing.T, f *Future[int]) *Future[int] {
			return Then(f, func(v int) *Future[int] { t.Error("fn ran"); return Resolved(v) })
		},
	}
	for name, derive := range derive {
		t.Run(name+" pending", func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, l := kept()
				d := derive(t, p.Future())
				if !d.Cancel(errCause) {
					t.Error("Cancel = false")
				}
				l.want(t, "canceled 0 false: the caller went home")
				wantGet(t, p.Future(), 0, ErrCanceled, errCause)
				wantGet(t, d, 0, ErrCanceled, errCause)
			})
		})
		t.Run(name+" ready", func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, l := kept()
				gate := make(chan struct{})
				p.Future().onDone(func() { <-gate }) // delivery has to wait
				d := derive(t, p.Future())
				p.Settle(7, nil)
				synctest.Wait()
				if !d.Cancel(errCause) {
					t.Error("Cancel = false")
				}
				l.want(t, "canceled 7 true: the caller went home")
				close(gate)
				synctest.Wait()
				wantGet(t, p.Future(), 0, ErrCanceled, errCause)
				l.want(t)
			})
		})
		// The source belongs to another reader already: it stays, and fn still does not run.
		t.Run(name+" claimed by another", func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, l := kept()
				gate := make(chan struct{})
				p.Future().onDone(func() { <-gate })
				d := derive(t, p.Future())
				p.Settle(7, nil)
				wantGet(t, p.Future(), 7)
				d.Cancel(errCause)
				close(gate)
				synctest.Wait()
				wantGet(t, p.Future(), 7)
				wantGet(t, d, 0, ErrCanceled, errCause)
				l.want(t, "claimed 7")
			})
		})
	}
}

// canceler is a Keeper that cancels a derived future at the very moment its source is claimed: the narrowest gap
// between the claim and fn.
type canceler struct {
	ledger
	derived *Future[int]
}

func (c *canceler) Claimed(v int) {
	c.ledger.Claimed(v)
	c.derived.Cancel(errCause)
}

// A Cancel between the claim and fn: fn does not run, and the value goes back.
func TestDerivedCancelAtClaim(t *testing.T) {
	for _, then := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			p, c := new(Promise[int]), new(canceler)
			p.Init(c)
			if then {
				c.derived = Then(p.Future(), func(v int) *Future[int] { t.Error("fn ran"); return Resolved(v) })
			} else {
				c.derived = Map(p.Future(), func(v int) (int, error) { t.Error("fn ran"); return v, nil })
			}
			p.Settle(7, nil)
			synctest.Wait()
			c.want(t, "claimed 7", "discarded 7")
			wantGet(t, c.derived, 0, ErrCanceled, errCause)
		})
	}
}

// What fn of Map made is never taken: the source's value goes back, once, whether the Cancel came while fn ran or
// after. A fn that failed keeps it, and so does another reader of the source.
func TestMapGivesBack(t *testing.T) {
	run := func(name string, fnErr error, shared, late bool, want ...string) {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, l := kept()
				if shared {
					p.Settle(7, nil)
					wantGet(t, p.Future(), 7)
				}
				gate := make(chan struct{})
				d := Map(p.Future(), func(v int) (int, error) { <-gate; return v * 2, fnErr })
				p.Settle(7, nil)
				synctest.Wait() // fn runs
				if late {
					close(gate)
					synctest.Wait()
				}
				if got, want := d.Cancel(errCause), !late || fnErr == nil; got != want {
					t.Errorf("Cancel = %v, want %v", got, want)
				}
				if !late {
					l.want(t, "claimed 7") // not under fn's hands
					close(gate)
					synctest.Wait()
					l.want(t, want[1:]...)
				} else {
					l.want(t, want...)
				}
			})
		})
	}
	run("canceled after fn", nil, false, true, "claimed 7", "discarded 7")
	run("canceled during fn", nil, false, false, "claimed 7", "discarded 7")
	run("fn failed", errBoom, false, true, "claimed 7")
	run("fn failed, canceled during", errBoom, false, false, "claimed 7")
	run("source shared", nil, true, true, "claimed 7")
	run("source shared, canceled during", nil, true, false, "claimed 7")
}

// Discarded travels through a chain of derivations to where the value came from.
func TestDiscardTravels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, la := kept()
		b, lb := kept()
		inc := func(v int) (int, error) { return v + 1, nil }
		mapped := Map(Map(a.Future(), inc), inc)
		chained := Then(Resolved(0), func(int) *Future[int] { return b.Future() })
		thief := &thief{}
		stolen := new(Promise[int])
		stolen.Init(thief)
		a.Settle(1, nil)
		b.Settle(2, nil)
		stolen.Settle(3, nil)
		synctest.Wait()
		// All claims mapped and chained; the Keeper of the third cancels the fourth just then.
		victim, lv := kept()
		victim.Settle(4, nil)
		thief.victim = victim.Future()
		_, err := All(t.Context(), mapped, chained, stolen.Future(), victim.Future())
		wantErr(t, err, ErrCanceled, errCause)
		la.want(t, "claimed 1", "discarded 1")
		lb.want(t, "claimed 2", "discarded 2")
		lv.want(t, "canceled 4 true: the caller went home")
		thief.want(t, "claimed 3", "discarded 3")
	})
}

// thief is a Keeper that cancels another future when its own value is claimed.
type thief struct {
	ledger
	victim *Future[int]
}

func (f *thief) Claimed(v int) {
	f.ledger.Claimed(v)
	f.victim.Cancel(errCause)
}

func TestThen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := kept()
		q, lq := kept()
		d := Then(p.Future(), func(v int) *Future[int] {
			if v != 1 {
				t.Errorf("fn got %d", v)
			}
			return q.Future()
		})
		p.Settle(1, nil)
		synctest.Wait()
		wantPending(t, d)
		l.want(t, "claimed 1")
		q.Settle(2, nil)
		synctest.Wait()
		wantGet(t, d, 2)
		lq.want(t, "claimed 2")
		if d.Cancel(nil) {
			t.Error("canceled a derived value that somebody has")
		}
	})
}

// Canceling the derived future after fn ran reaches the inner one: pending, ready and delivered, or still being made.
func TestThenCancelsInner(t *testing.T) {
	tests := []struct {
		name string
		act  func(d *Future[int], q *Promise[int], gate chan struct{})
		want []string
	}{
		{"pending", func(d *Future[int], _ *Promise[int], gate chan struct{}) {
			close(gate)
			synctest.Wait()
			d.Cancel(errCause)
		}, []string{"canceled 0 false: the caller went home"}},
		{"delivered and not taken", func(d *Future[int], q *Promise[int], gate chan struct{}) {
			close(gate)
			q.Settle(2, nil)
			synctest.Wait()
			d.Cancel(errCause)
		}, []string{"claimed 2", "discarded 2"}},
		{"taken by another reader too", func(d *Future[int], q *Promise[int], gate chan struct{}) {
			q.Settle(2, nil)
			q.Future().TryGet()
			close(gate)
			synctest.Wait()
			d.Cancel(errCause)
		}, []string{"claimed 2"}},
		{"fn still runs", func(d *Future[int], _ *Promise[int], gate chan struct{}) {
			d.Cancel(errCause)
			close(gate)
		}, []string{"canceled 0 false: the caller went home"}},
		{"fn still runs, inner ready", func(d *Future[int], q *Promise[int], gate chan struct{}) {
			q.Settle(2, nil)
			d.Cancel(errCause)
			close(gate)
		}, []string{"canceled 2 true: the caller went home"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, l := kept()
				q, lq := kept()
				gate := make(chan struct{})
				d := Then(p.Future(), func(int) *Future[int] { <-gate; return q.Future() })
				p.Settle(1, nil)
				synctest.Wait() // fn runs
				tt.act(d, q, gate)
				synctest.Wait()
				wantGet(t, d, 0, ErrCanceled, errCause)
				lq.want(t, tt.want...)
				l.want(t, "claimed 1") // fn's since then
			})
		})
	}
}

// A Cancel between the claim of the inner value and its delivery gives it back.
func TestThenCancelAtInnerClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q, c := new(Promise[int]), new(canceler)
		q.Init(c)
		c.derived = Then(Resolved(1), func(int) *Future[int] { return q.Future() })
		synctest.Wait()
		q.Settle(2, nil)
		synctest.Wait()
		c.want(t, "claimed 2", "discarded 2")
		wantGet(t, c.derived, 0, ErrCanceled, errCause)
	})
}

func TestGo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		var inner context.Context
		f := Go(t.Context(), func(ctx context.Context) (int, error) { inner = ctx; <-gate; return 7, nil })
		synctest.Wait()
		wantPending(t, f)
		if inner.Err() != nil {
			t.Error("fn's ctx is over while fn runs")
		}
		close(gate)
		synctest.Wait()
		wantGet(t, f, 7)
		if inner.Err() == nil {
			t.Error("fn's ctx outlives fn")
		}
		f = Go(t.Context(), func(context.Context) (int, error) { return 0, errBoom })
		synctest.Wait()
		wantGet(t, f, 0, errBoom)
	})
}

// Cancel ends fn's ctx with the cause, and the future at once; ctx ends fn's ctx, and fn decides the outcome.
func TestGoCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		var cause error
		f := Go(t.Context(), func(ctx context.Context) (int, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			<-gate
			return 7, nil
		})
		synctest.Wait()
		if !f.Cancel(errCause) {
			t.Error("Cancel = false")
		}
		wantGet(t, f, 0, ErrCanceled, errCause)
		synctest.Wait()
		if cause != errCause {
			t.Errorf("fn's ctx ended with %v", cause)
		}
		close(gate)
		synctest.Wait()
		wantGet(t, f, 0, ErrCanceled, errCause) // the late result changes nothing

		ctx, cancel := context.WithCancelCause(t.Context())
		f = Go(ctx, func(ctx context.Context) (int, error) { <-ctx.Done(); return 3, context.Cause(ctx) })
		synctest.Wait()
		wantPending(t, f)
		cancel(errBoom)
		synctest.Wait()
		wantGet(t, f, 3, errBoom)
	})
}
