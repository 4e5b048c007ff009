package future

import (
	"context"
	"errors"
	"sync/atomic"
)

// Map returns the future of what fn makes of f's success value. f's error, cancellation included, becomes the derived
// future's error, and fn does not run.
//
// fn runs like a callback of [Future.OnComplete] on f, and claims f's value. Canceling the derived future cancels f with
// the same cause; fn does not run if that happened before f's value was handed to it. If fn panics, the derived future
// fails with a [*PanicError].
//
// fn is meant to convert. If it succeeds, and then the derived future is canceled before anybody took the result, f's
// value goes back to its producer ([Keeper.Discarded]), because nobody else could give it back: a fn that keeps the
// value for itself should be an OnComplete callback or the function of [Then]. If fn fails, the value stays with fn.
func Map[T, U any](f *Future[T], fn func(T) (U, error)) *Future[U] {
	m := &mapped[T, U]{src: f, fn: fn}
	m.p.Init(m)
	f.onDone(m.deliver)
	return m.p.Future()
}

// mapped is a Map: the promise of the derived future, and its Keeper.
type mapped[T, U any] struct {
	p     Promise[U]
	src   *Future[T]
	fn    func(T) (U, error)
	v     T    // what fn was given
	first bool // this Map claimed v, and fn succeeded; like v written before p is settled and read only after
}

func (m *mapped[T, U]) deliver() {
	v, first, ok := takeFor(m.src, &m.p)
	if !ok {
		return
	}
	guard(func() (U, error) { return m.fn(v) }, func(u U, err error) {
		m.v, m.first = v, first && err == nil
		if !m.p.Settle(u, err) {
			m.giveBack()
		}
	})
}

func (m *mapped[T, U]) Claimed(U) {}

func (m *mapped[T, U]) Canceled(cause error, _ U, settled bool) {
	if settled {
		m.giveBack()
	} else {
		m.src.Cancel(cause)
	}
}

func (m *mapped[T, U]) Discarded(U) { m.giveBack() }

func (m *mapped[T, U]) giveBack() {
	if m.first {
		m.src.discard(m.v)
	}
}

// Then returns the future of the future that fn makes of f's success value: work that follows work. f's error becomes
// the derived future's error, and fn does not run.
//
// fn runs like a callback of [Future.OnComplete] on f, and claims f's value, which is fn's from then on. Canceling the
// derived future cancels f, or what fn returned, with the same cause; fn does not run if that happened before f's value
// was handed to it. A value of the inner future that can no longer be delivered goes back to its producer. If fn
// panics, the derived future fails with a [*PanicError]; it also fails if fn returns nil.
func Then[T, U any](f *Future[T], fn func(T) *Future[U]) *Future[U] {
	c := &chained[T, U]{src: f, fn: fn}
	c.p.Init(c)
	f.onDone(c.deliver)
	return c.p.Future()
}

// errNoInner is the outcome of a Then whose function returned nil.
var errNoInner = errors.New("future: the function of Then returned a nil future")

// chained is a Then: the promise of the derived future, and its Keeper.
type chained[T, U any] struct {
	p     Promise[U]
	src   *Future[T]
	fn    func(T) *Future[U]
	inner atomic.Pointer[Future[U]]
	first bool // this Then claimed inner's value; written before p is settled and read only after
}

func (c *chained[T, U]) deliver() {
	v, _, ok := takeFor(c.src, &c.p)
	if !ok {
		return
	}
	guard(func() (*Future[U], error) { return c.fn(v), nil }, func(inner *Future[U], err error) {
		if err == nil && inner == nil {
			err = errNoInner
		}
		if err != nil {
			var none U
			c.p.Settle(none, err)
			return
		}
		c.inner.Store(inner)
		// A Cancel that came before the store did not see inner; one that comes after it does.
		if c.p.f.IsDone() {
			inner.Cancel(c.p.f.cause())
			return
		}
		inner.onDone(c.forward)
	})
}

// forward runs when inner is done.
func (c *chained[T, U]) forward() {
	inner := c.inner.Load()
	u, first, _, err := inner.take()
	c.first = first
	if !c.p.Settle(u, err) && first {
		inner.discard(u)
	}
}

func (c *chained[T, U]) Claimed(U) {}

func (c *chained[T, U]) Canceled(cause error, u U, settled bool) {
	if settled {
		c.Discarded(u)
		return
	}
	c.src.Cancel(cause)
	if inner := c.inner.Load(); inner != nil {
		inner.Cancel(cause)
	}
}

func (c *chained[T, U]) Discarded(u U) {
	if c.first {
		c.inner.Load().discard(u)
	}
}

// takeFor takes the success value of src, which is done, to hand it to the function that p is derived with. ok is false
// if there is nothing to hand over: src failed or was canceled, and so did p now; or p was canceled too late to cancel
// src, and the value is given back here.
func takeFor[T, U any](src *Future[T], p *Promise[U]) (v T, first, ok bool) {
	v, first, _, err := src.take()
	if err != nil {
		var none U
		p.Settle(none, err)
		return v, false, false
	}
	if p.f.IsDone() {
		if first {
			src.discard(v)
		}
		return v, false, false
	}
	return v, first, true
}

// Go runs fn on a goroutine of its own and returns the future of its result. Canceling the future cancels the ctx that
// fn gets, with the cause; fn's ctx also ends with ctx, and when fn has returned. The future does not wait for fn to
// notice: a result that comes after the Cancel is dropped, as is one that is canceled before anybody took it, so a fn
// that produces something which must be closed should use a [Promise] with a [Keeper] instead.
//
// If fn panics, the future fails with a [*PanicError].
func Go[T any](ctx context.Context, fn func(context.Context) (T, error)) *Future[T] {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running[T]{cancel: cancel}
	r.p.Init(r)
	go func() {
		defer cancel(nil)
		guard(func() (T, error) { return fn(ctx) }, func(v T, err error) { r.p.Settle(v, err) })
	}()
	return r.p.Future()
}

// running is a Go: its promise, and its Keeper.
type running[T any] struct {
	p      Promise[T]
	cancel context.CancelCauseFunc
}

func (r *running[T]) Claimed(T)                         {}
func (r *running[T]) Canceled(cause error, _ T, _ bool) { r.cancel(cause) }
func (r *running[T]) Discarded(T)                       {}
