package holdfast

import (
	"context"
	"errors"
	"sync"
)

// Do locks, runs fn, and unlocks, also when fn panics (the panic goes on). fn's
// ctx is derived from ctx: it has its deadline and is cancelled with it, it ends
// with cause ErrLost when the lock is lost, and it carries the owner, so that fn
// can lock the same name again. Do returns fn's error as it is, or Lock's if fn
// did not run; if the lock was lost while fn ran, or the unlock failed, that error
// is joined to it (ErrLost, ErrNotHeld; ErrUnavailable), whatever fn made of it.
func (l *Lock) Do(ctx context.Context, fn func(context.Context) error, opts ...LockOption) error {
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		return err
	}
	return runHeld(ctx, h, fn, configure(opts))
}

func runHeld(ctx context.Context, h *Hold, fn func(context.Context) error, c lockConfig) (err error) {
	held, cancel := context.WithCancelCause(h.Adorn(ctx))
	stop := context.AfterFunc(h.Context(), func() { cancel(context.Cause(h.Context())) })
	defer func() {
		stop()
		cancel(ErrReleased)
		unlockErr := h.Close()
		if c.onReleased != nil {
			c.onReleased(h, unlockErr)
		}
		if unlockErr != nil {
			err = errors.Join(err, unlockErr)
		}
	}()
	if c.onAcquired != nil {
		c.onAcquired(h)
	}
	return fn(held)
}

// Locker adapts the lock to sync.Locker. That interface has no way to report an
// error, so Lock panics when the lock cannot be had (ctx ended, runtime closed,
// bad name) and Unlock panics when it is not held. Prefer Lock or Do. A Locker
// excludes like a sync.Mutex: it never re-enters, whatever owner ctx carries. ctx
// bounds every wait.
func (l *Lock) Locker(ctx context.Context) sync.Locker {
	return &syncLocker{lock: l, ctx: ContextWithoutOwner(ctx)}
}

type syncLocker struct {
	lock *Lock
	ctx  context.Context
	mu   sync.Mutex
	hold *Hold
}

func (s *syncLocker) Lock() {
	h, err := s.lock.Lock(s.ctx)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.hold = h
	s.mu.Unlock()
}

func (s *syncLocker) Unlock() {
	s.mu.Lock()
	h := s.hold
	s.hold = nil
	s.mu.Unlock()
	if h == nil {
		panic(ErrNotHeld)
	}
	if err := h.Close(); err != nil {
		panic(err)
	}
}
