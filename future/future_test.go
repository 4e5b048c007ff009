package future

import (
	"context"
	"errors"
	"testing"
	"unsafe"
)

// The whole state table: how each state is reached, and what each operation does there.
func TestStates(t *testing.T) {
	tests := []struct {
		name    string
		reach   func(p *Promise[int])
		done    bool
		claimed bool
		settle  bool // what a Settle returns
		cancel  bool // what a Cancel returns
		value   int
		errs    []error
		kept    []string // so far
		later   []string // what the Cancel adds
	}{
		{
			name: "pending", reach: func(*Promise[int]) {},
			settle: true, cancel: true,
			later: []string{"canceled 0 false: the caller went home"},
		},
		{
			name: "ready", reach: func(p *Promise[int]) { p.Settle(7, nil) },
			done: true, cancel: true, value: 7,
			later: []string{"canceled 7 true: the caller went home"},
		},
		{
			name: "claimed", reach: func(p *Promise[int]) { p.Settle(7, nil); p.Future().TryGet() },
			done: true, claimed: true, value: 7,
			kept: []string{"claimed 7"},
		},
		{
			name: "failed", reach: func(p *Promise[int]) { p.Settle(3, errBoom) },
			done: true, value: 3, errs: []error{errBoom},
		},
		{
			name: "canceled while pending", reach: func(p *Promise[int]) { p.Future().Cancel(errBoom) },
			done: true, errs: []error{ErrCanceled, errBoom},
			kept: []string{"canceled 0 false: boom"},
		},
		{
			name: "canceled while ready", reach: func(p *Promise[int]) { p.Settle(7, nil); p.Future().Cancel(errBoom) },
			done: true, errs: []error{ErrCanceled, errBoom},
			kept: []string{"canceled 7 true: boom"},
		},
		{
			name: "canceled for no reason", reach: func(p *Promise[int]) { p.Future().Cancel(nil) },
			done: true, errs: []error{ErrCanceled, context.Canceled},
			kept: []string{"canceled 0 false: context canceled"},
		},
	}
	for _, tt := range tests {
		for _, keeper := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				prepare := func() (*Promise[int], *Future[int], *ledger) {
					p, l := kept()
					if !keeper {
						p, l = new(Promise[int]), nil
						p.Init(nil)
					}
					tt.reach(p)
					return p, p.Future(), l
				}
				check := func(l *ledger, events ...string) {
					t.Helper()
					if l != nil {
						l.want(t, events...)
					}
				}

				p, f, l := prepare()
				if f.IsDone() != tt.done || isClosed(f.Done()) != tt.done {
					t.Errorf("IsDone %v, Done closed %v, want %v", f.IsDone(), isClosed(f.Done()), tt.done)
				}
				if p.Claimed() != tt.claimed {
					t.Errorf("Claimed = %v before any reader", p.Claimed())
				}
				check(l, tt.kept...)

				if got := f.Cancel(errCause); got != tt.cancel {
					t.Errorf("Cancel = %v, want %v", got, tt.cancel)
				}
				if tt.cancel {
					wantGet(t, f, 0, ErrCanceled, errCause)
					if p.Claimed() {
						t.Error("a canceled value counts as claimed")
					}
				} else {
					wantGet(t, f, tt.value, tt.errs...)
				}
				check(l, tt.later...)

				p, f, l = prepare()
				check(l, tt.kept...)
				if got := p.Settle(9, nil); got != tt.settle {
					t.Errorf("Settle = %v, want %v", got, tt.settle)
				}
				if tt.done {
					wantGet(t, f, tt.value, tt.errs...)
					v, err, ok := f.TryGet()
					if !ok || v != tt.value {
						t.Errorf("TryGet = %v, %v, %v", v, err, ok)
					}
					wantErr(t, err, tt.errs...)
				}
			})
		}
	}
}

func TestTryGetPending(t *testing.T) {
	p, l := kept()
	if v, err, ok := p.Future().TryGet(); v != 0 || err != nil || ok {
		t.Errorf("TryGet = %v, %v, %v on a pending future", v, err, ok)
	}
	l.want(t)
}

// A second settlement, of either kind, does not replace the first.
func TestFirstSettleWins(t *testing.T) {
	p, _ := kept()
	if !p.Settle(1, nil) || p.Settle(2, nil) || p.Settle(3, errBoom) {
		t.Error("not exactly the first Settle won")
	}
	wantGet(t, p.Future(), 1)

	p, _ = kept()
	if !p.Settle(0, errBoom) || p.Settle(2, nil) || p.Settle(3, errCause) {
		t.Error("not exactly the first Settle won")
	}
	wantGet(t, p.Future(), 0, errBoom)
}

// The zero Promise works: it is embedded and often not even initialized.
func TestZeroPromise(t *testing.T) {
	var request struct {
		name    string
		promise Promise[string]
	}
	f := request.promise.Future()
	if f != request.promise.Future() {
		t.Error("two futures of one promise")
	}
	if !request.promise.Settle("v", nil) {
		t.Error("Settle = false on the zero Promise")
	}
	wantGet(t, f, "v")
}

func TestConstructors(t *testing.T) {
	f, settle := New[int]()
	wantPending(t, f)
	if !settle(4, nil) || settle(5, nil) {
		t.Error("the settle function of New does not write once")
	}
	wantGet(t, f, 4)

	wantGet(t, Resolved("x"), "x")
	wantGet(t, Failed[int](errBoom), 0, errBoom)

	resolved := Resolved(1)
	if !resolved.Cancel(errCause) {
		t.Error("a Resolved value that nobody took cannot be canceled")
	}
	wantGet(t, resolved, 0, ErrCanceled, errCause)
	if Failed[int](errBoom).Cancel(nil) {
		t.Error("a settled error was canceled")
	}

	defer func() {
		if recover() == nil {
			t.Error("Failed(nil) made a future")
		}
	}()
	Failed[int](nil)
}

// Done gives one channel, whenever it is asked for, and looking at it claims nothing.
func TestDone(t *testing.T) {
	p, l := kept()
	f := p.Future()
	early := f.Done()
	if isClosed(early) || early != f.Done() {
		t.Error("Done of a pending future is closed, or not the same twice")
	}
	p.Settle(1, nil)
	if !isClosed(early) || early != f.Done() {
		t.Error("Done did not close, or changed")
	}
	l.want(t)
	if !f.Cancel(nil) {
		t.Error("looking at Done claimed the value")
	}
	if !isClosed(early) {
		t.Error("Done reopened")
	}

	late := Resolved(1)
	if first := late.Done(); !isClosed(first) || first != late.Done() {
		t.Error("Done asked for late is not closed, or not the same twice")
	}
}

// The cancel error names both the sentinel and the cause, once.
func TestCancelErrorText(t *testing.T) {
	a, b := new(Promise[int]), new(Promise[int])
	a.Future().Cancel(errCause)
	_, err := a.Future().Get(t.Context())
	if got, want := err.Error(), "future: canceled: the caller went home"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	b.Future().Cancel(err)
	_, again := b.Future().Get(t.Context())
	if again.Error() != err.Error() {
		t.Errorf("canceled because a sibling was canceled reads %q", again)
	}
	if !errors.Is(again, ErrCanceled) || !errors.Is(again, errCause) {
		t.Errorf("%v lost its sentinel or its cause", again)
	}
}

// A canceled value is not kept alive by the future it was taken out of.
func TestCancelDropsValue(t *testing.T) {
	p := new(Promise[*int])
	p.Settle(new(1), nil)
	p.Future().Cancel(nil)
	if p.f.val != nil {
		t.Error("the canceled value is still there")
	}
}

func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(Future[*int]{}); size > 96 {
		t.Errorf("a Future[*int] has %d bytes, 96 are allowed", size)
	}
	if unsafe.Sizeof(Promise[*int]{}) != unsafe.Sizeof(Future[*int]{}) {
		t.Error("a Promise is more than its Future")
	}
}
