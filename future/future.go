package future

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// The states of a future; doc.go has the picture. Every change but ready to claimed happens under Future.mu.
const (
	pending  uint32 = iota
	ready           // a success value that nobody has taken
	claimed         // a success value that somebody has taken
	failed          // settled with an error
	canceled        // Cancel decided
)

// closed is what Done returns for a future that was done before anybody asked.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Future is the read side of a value that is known later. It comes from a [Promise], or from [New], [Resolved],
// [Failed], [Go], [Map] or [Then]; it must not be copied. All methods are safe for concurrent use.
type Future[T any] struct {
	mu     sync.Mutex
	state  atomic.Uint32
	val    T // written before state leaves pending; taken away by a Cancel of ready
	keeper Keeper[T]

	waiters waiterList // only while pending
	rare    *rare
}

// rare is what most futures never need. It is added under Future.mu, and stays.
type rare struct {
	err      error // belongs to failed and canceled, and is not looked at in any other state
	done     chan struct{}
	calls    callQueue
	draining bool // a goroutine is running calls, or is about to
}

// Get waits for the outcome and returns it, claiming a success value.
//
// It returns early with [context.Cause] of ctx when ctx ends first. That ends this wait only: the work goes on, other
// readers are not touched, and a later Get may still succeed. If the outcome is there, ctx is not looked at. After a
// Cancel the error wraps [ErrCanceled] and the cause. A producer that settled with an error and a value gets both
// returned.
func (f *Future[T]) Get(ctx context.Context) (T, error) {
	v, _, ok, err := f.take()
	if !ok {
		if !f.wait(ctx) {
			return v, context.Cause(ctx)
		}
		v, _, _, err = f.take()
	}
	return v, err
}

// TryGet returns the outcome if it is there, claiming a success value; ok is false while it is not. It never blocks.
func (f *Future[T]) TryGet() (v T, err error, ok bool) {
	v, _, ok, err = f.take()
	return v, err, ok
}

// Done returns a channel that is closed when the future is settled or canceled. It is the same channel every time,
// allocated on first use. Looking at it claims nothing: a success value may still be canceled until it is taken.
func (f *Future[T]) Done() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rare != nil && f.rare.done != nil {
		return f.rare.done
	}
	if f.IsDone() {
		return closed
	}
	done := make(chan struct{})
	f.more().done = done
	return done
}

// IsDone tells whether the future is settled or canceled. Like Done it claims nothing.
func (f *Future[T]) IsDone() bool { return f.state.Load() != pending }

// Cancel ends the future with an error that wraps [ErrCanceled] and cause; a nil cause is [context.Canceled]. It
// reports whether it decided the outcome: true while the future is pending, and also when a success value is there that
// nobody has taken, which then goes back to the producer. Cancel returns false, and changes nothing, for a value that
// was taken, an error that was settled, and a future that was canceled before.
//
// Cancel never blocks. It calls [Keeper.Canceled] before it returns.
func (f *Future[T]) Cancel(cause error) bool {
	if s := f.state.Load(); s != pending && s != ready {
		return false
	}
	if cause == nil {
		cause = context.Canceled
	}
	err := canceledBy(cause)
	f.mu.Lock()
	switch f.state.Load() {
	case pending:
		f.more().err = err
		wake := f.finish(canceled)
		f.mu.Unlock()
		// Deferred: a Keeper that panics must not leave readers asleep.
		defer f.release(wake)
		if f.keeper != nil {
			var none T
			f.keeper.Canceled(cause, none, false)
		}
		return true
	case ready:
		// The error has to be there before a reader can see the new state. Losing the swap to a claim is harmless:
		// nobody looks at err in claimed.
		f.more().err = err
		if f.state.CompareAndSwap(ready, canceled) {
			var none T
			v := f.val
			f.val = none
			f.mu.Unlock()
			if f.keeper != nil {
				f.keeper.Canceled(cause, v, true)
			}
			return true
		}
		f.rare.err = nil
	}
	f.mu.Unlock()
	return false
}

// take returns the outcome and claims a success value; first tells whether this call did. ok is false while pending.
// Every way to a success value leads through here.
func (f *Future[T]) take() (v T, first, ok bool, err error) {
	for {
		switch f.state.Load() {
		case pending:
			return v, false, false, nil
		case ready:
			if !f.state.CompareAndSwap(ready, claimed) {
				continue
			}
			if f.keeper != nil {
				f.keeper.Claimed(f.val)
			}
			return f.val, true, true, nil
		case claimed:
			return f.val, false, true, nil
		case failed:
			return f.val, false, true, f.rare.err
		default:
			return v, false, true, f.rare.err
		}
	}
}

// failure returns the error of a future that is done, nil for a success; it claims nothing.
func (f *Future[T]) failure() error {
	if s := f.state.Load(); s == failed || s == canceled {
		return f.rare.err
	}
	return nil
}

// discard gives back a value that this package claimed and could not deliver.
func (f *Future[T]) discard(v T) {
	if f.keeper != nil {
		f.keeper.Discarded(v)
	}
}

// settle is Promise.Settle.
func (f *Future[T]) settle(v T, err error) bool {
	f.mu.Lock()
	if f.IsDone() {
		f.mu.Unlock()
		return false
	}
	f.val = v
	s := ready
	if err != nil {
		s = failed
		f.more().err = err
	}
	wake := f.finish(s)
	f.mu.Unlock()
	f.release(wake)
	return true
}

// wake is what is left to do when a future is done and mu is free again.
type wake struct {
	waiters waiterList
	calls   bool
}

// finish leaves pending. The caller holds mu, and calls release once it does not.
func (f *Future[T]) finish(s uint32) wake {
	f.state.Store(s)
	w := wake{waiters: f.waiters}
	f.waiters = waiterList{}
	if r := f.rare; r != nil {
		if r.done != nil {
			close(r.done)
		}
		w.calls = r.calls.first != nil
		r.draining = w.calls
	}
	return w
}

func (f *Future[T]) release(w wake) {
	w.waiters.signal()
	if w.calls {
		go f.drain()
	}
}

// more returns the rarely used part; the caller holds mu.
func (f *Future[T]) more() *rare {
	if f.rare == nil {
		f.rare = new(rare)
	}
	return f.rare
}

// ErrCanceled is what readers see after [Future.Cancel]. The error they get wraps it together with the cause, so that
// [errors.Is] finds both.
var ErrCanceled = errors.New("future: canceled")

// canceledError is ErrCanceled with its cause.
type canceledError struct{ cause error }

func (e *canceledError) Error() string   { return ErrCanceled.Error() + ": " + e.cause.Error() }
func (e *canceledError) Unwrap() []error { return []error{ErrCanceled, e.cause} }

// canceledBy makes the error for readers. A cause that is such an error, because a sibling was canceled, says it all.
func canceledBy(cause error) error {
	if errors.Is(cause, ErrCanceled) {
		return cause
	}
	return &canceledError{cause}
}

// cause returns what Cancel of this canceled future was given.
func (f *Future[T]) cause() error {
	if e, ok := f.rare.err.(*canceledError); ok {
		return e.cause
	}
	return f.rare.err
}
