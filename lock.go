package holdfast

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/actors"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd"
)

// Locker is what every kind of lock can do. The methods of [Lock] say how; other
// kinds differ in who excludes whom.
type Locker interface {
	// Name returns the name that the lock was asked for with.
	Name() string
	// Lock waits for the grant until ctx ends.
	Lock(ctx context.Context, opts ...LockOption) (*Hold, error)
	// TryLock makes one attempt.
	TryLock(ctx context.Context, opts ...LockOption) (*Hold, error)
	// LockAsync is Lock as a future.
	LockAsync(ctx context.Context, opts ...LockOption) *future.Future[*Hold]
	// TryLockAsync is TryLock as a future.
	TryLockAsync(ctx context.Context, opts ...LockOption) *future.Future[*Hold]
	// Do locks, runs fn, and unlocks.
	Do(ctx context.Context, fn func(context.Context) error, opts ...LockOption) error
	// ForceUnlock frees the lock whoever holds it.
	ForceUnlock(ctx context.Context) (bool, error)
	// Inspect reads the lock's state from the server.
	Inspect(ctx context.Context) (State, error)
}

var _ Locker = (*Lock)(nil)

// Lock is a handle on a reentrant lock (Redisson's RLock). It is cheap, does no
// I/O, needs no Close, and is safe for concurrent use; any number of handles may
// name the same lock.
type Lock struct {
	rt   *Runtime
	name string
	key  string // on the wire
	kind *actors.Kind
	bad  error // the name cannot be used: every call returns this
}

// Lock returns a handle on the reentrant lock of that name. A name that cannot
// be used (empty, longer than 1024 bytes, reserved by Redisson's own keys, or
// unfit for a cluster's slots) makes every call of the handle ErrInvalidName.
func (rt *Runtime) Lock(name string) *Lock {
	l := &Lock{rt: rt, name: name, key: name, kind: rt.mutex}
	if rt.cfg.mapper != nil {
		l.key = rt.cfg.mapper(name)
	}
	if err := rediscmd.ValidateName(l.key, rt.cluster); err != nil {
		l.bad = fmt.Errorf("%w: %w", ErrInvalidName, err)
	}
	return l
}

// Name returns the lock's name.
func (l *Lock) Name() string { return l.name }

// Lock waits until the lock is granted or ctx ends, whichever is first; ctx (and
// WaitFor) bound the wait only, never the hold. Waiting calls of one runtime are
// granted in order of arrival. While Redis gives no verdict the wait goes on, and
// the error at its end carries the server's. A ctx that is canceled, rather than
// running out, while Redis does not answer at all is noticed when the command under
// way has had its time: a tenth of the watchdog timeout, 1 s at most.
//
// Errors: ErrNotAcquired (with ctx's own when ctx ended, a *HeldError when WaitFor
// did), ErrClosed, ErrOverloaded, ErrInvalidName, ErrInvalidLease, ErrInvalidOwner,
// ErrUnavailable when the server is out of memory, or the server's own, definite
// no (WRONGTYPE, NOPERM).
func (l *Lock) Lock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	h, err := l.request(ctx, false, false, opts)
	if err != nil {
		return nil, err
	}
	return h.Await(ctx)
}

// TryLock makes one attempt and does not wait for a holder: ErrNotAcquired, a
// *HeldError, if somebody else has the lock. ctx bounds the round trip, as it does
// in Lock. If Redis gives no verdict it is ErrUnavailable at once, and what a lost
// reply may have granted is taken back; the other errors are Lock's.
func (l *Lock) TryLock(ctx context.Context, opts ...LockOption) (*Hold, error) {
	h, err := l.request(ctx, true, false, opts)
	if err != nil {
		return nil, err
	}
	return h.Await(ctx)
}

// LockAsync is Lock as a future, settled without a goroutine of its own. ctx
// governs the request until somebody takes the hold out of the future: when ctx
// ends before, the request is given up, and so is a grant that nobody took.
func (l *Lock) LockAsync(ctx context.Context, opts ...LockOption) *future.Future[*Hold] {
	return l.async(ctx, false, opts)
}

// TryLockAsync is TryLock as a future, with LockAsync's rules.
func (l *Lock) TryLockAsync(ctx context.Context, opts ...LockOption) *future.Future[*Hold] {
	return l.async(ctx, true, opts)
}

func (l *Lock) async(ctx context.Context, try bool, opts []LockOption) *future.Future[*Hold] {
	h, err := l.request(ctx, try, true, opts)
	if err != nil {
		return future.Failed[*Hold](err)
	}
	return h.Granted()
}

// request checks the call and posts it. Bad input is answered here, before
// anything is sent.
func (l *Lock) request(ctx context.Context, try, watch bool, opts []LockOption) (*Hold, error) {
	if l.bad != nil {
		return nil, l.bad
	}
	a := actors.AcquireArgs{Kind: l.kind, Name: l.name, Key: l.key, Try: try, Watch: watch}
	if len(opts) > 0 {
		c := configure(opts)
		if c.hasLease {
			lease, err := actors.CheckLease(c.lease)
			if err != nil {
				return nil, err
			}
			a.Lease = lease
		}
		if c.hasWait {
			a.Wait, a.Try = c.wait, try || c.wait <= 0
		}
		a.Owner = c.owner
	}
	if a.Owner.IsZero() {
		// An owner of another runtime does not count here: a ctx travels far.
		if o := actors.OwnerFrom(ctx); !o.IsZero() && o.Runtime() == l.rt.id {
			a.Owner = o
		}
	} else if a.Owner.Runtime() != l.rt.id {
		return nil, fmt.Errorf("%w: %s is not of runtime %s", ErrInvalidOwner, a.Owner, l.rt.id)
	}
	return l.rt.system.Acquire(ctx, a), nil
}

func configure(opts []LockOption) lockConfig {
	var c lockConfig
	for _, o := range opts {
		if o != nil {
			o.applyLock(&c)
		}
	}
	return c
}

// ForceUnlock deletes the lock, whoever holds it, and wakes all waiters, Java's
// included. It reports whether there was anything to delete. A holder of this
// runtime is told first; one elsewhere is told by the unlock message if anybody
// waits in its process, else by its next renewal, or at the end of a lease that is
// not renewed. ErrUnavailable if Redis gave no verdict: it may have happened.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	return l.ForceUnlockAsync().Get(ctx)
}

// ForceUnlockAsync is ForceUnlock as a future.
func (l *Lock) ForceUnlockAsync() *future.Future[bool] {
	if l.bad != nil {
		return future.Failed[bool](l.bad)
	}
	return l.rt.system.ForceUnlock(l.kind, l.key)
}

// Inspect reads the lock's state from the server. ctx bounds the round trip.
// Errors: ErrUnavailable, ErrClosed, ErrInvalidName, or the server's own (WRONGTYPE:
// the key is no lock). IsLocked, IsHeldBy, HoldCount and RemainingTTL are made of it
// and have the same.
func (l *Lock) Inspect(ctx context.Context) (State, error) {
	if l.bad != nil {
		return State{}, l.bad
	}
	return l.rt.system.Inspect(l.kind, l.key).Get(ctx)
}

// IsLocked reports whether anybody holds the lock.
func (l *Lock) IsLocked(ctx context.Context) (bool, error) {
	st, err := l.Inspect(ctx)
	return st.Locked, err
}

// IsHeldBy reports whether owner holds the lock (Redisson's isHeldByThread).
func (l *Lock) IsHeldBy(ctx context.Context, owner Owner) (bool, error) {
	n, err := l.HoldCount(ctx, owner)
	return n > 0, err
}

// HoldCount returns how many levels owner holds, 0 if none.
func (l *Lock) HoldCount(ctx context.Context, owner Owner) (int, error) {
	st, err := l.Inspect(ctx)
	if err != nil || !st.Locked || owner.IsZero() || st.Owner != owner {
		return 0, err
	}
	return st.Count, nil
}

// RemainingTTL returns what is left of the lease on the server: 0 if nobody
// holds the lock, NoTTL if its key does not expire.
func (l *Lock) RemainingTTL(ctx context.Context) (time.Duration, error) {
	st, err := l.Inspect(ctx)
	if err != nil || !st.Locked {
		return 0, err
	}
	return st.TTL, nil
}
