package actors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd"
)

// The states that a caller may want to tell apart. Errors of this module wrap
// these, so ask with errors.Is; each error also has an ErrorType method with the
// low-cardinality name that telemetry uses.
var (
	// ErrNotAcquired: somebody else has the lock (the error is a *HeldError), or
	// the caller's ctx ended before the grant (it matches ErrCanceled, too).
	ErrNotAcquired = sentinel("not_acquired", "holdfast: lock not acquired")
	// ErrNotHeld: the hold is not (or no longer) this owner's to unlock or extend.
	ErrNotHeld = sentinel("not_held", "holdfast: lock not held")
	// ErrLost: the hold ended without its owner's doing: the lease ran out, the
	// key was deleted or taken over, or somebody unlocked by force.
	ErrLost = sentinel("lease_lost", "holdfast: lock lost")
	// ErrReleased is the cause of a hold's context after a normal unlock.
	ErrReleased = sentinel("released", "holdfast: lock released")
	// ErrCanceled: the request was given up by its own caller, by Cancel or
	// because its ctx ended. It is future.ErrCanceled.
	ErrCanceled = future.ErrCanceled
	// ErrClosed: the runtime was closed.
	ErrClosed = sentinel("closed", "holdfast: runtime closed")
	// ErrUnavailable: Redis gave no verdict: away, loading, read-only, out of
	// memory, or its reply was lost. The server's own text is wrapped.
	ErrUnavailable = sentinel("unavailable", "holdfast: redis unavailable")
	// ErrReentered: the owner has a lock that does not let it in twice.
	ErrReentered = sentinel("reentered", "holdfast: lock is not reentrant")
	// ErrInvalidName: the lock name cannot be used.
	ErrInvalidName = sentinel("invalid_name", "holdfast: invalid lock name")
	// ErrInvalidLease: the lease is below 10 ms, above 2^40 ms, or negative.
	ErrInvalidLease = sentinel("invalid_lease", "holdfast: invalid lease")
	// ErrInvalidOwner: the owner given with As belongs to another runtime.
	ErrInvalidOwner = sentinel("invalid_owner", "holdfast: invalid owner")
	// ErrOverloaded: a limit on waiting calls was reached. A *OverloadError.
	ErrOverloaded = sentinel("overloaded", "holdfast: too many waiting calls")
)

// Leases outside these bounds are refused before anything is sent: Redis would
// answer "acquired" without a key, or leave a key for ever (design section 7).
const (
	MinLease = 10 * time.Millisecond
	MaxLease = (1 << 40) * time.Millisecond
)

type typedError struct{ kind, text string }

func sentinel(kind, text string) error   { return &typedError{kind, text} }
func (e *typedError) Error() string      { return e.text }
func (e *typedError) ErrorType() string  { return e.kind }
func (e *opError) ErrorType() string     { return errorType(e.kind) }
func (*HeldError) ErrorType() string     { return errorType(ErrNotAcquired) }
func (*OverloadError) ErrorType() string { return errorType(ErrOverloaded) }
func (*abandonError) ErrorType() string  { return "abandoned" }
func (e *opError) Unwrap() []error       { return []error{e.kind, e.cause} }
func (*HeldError) Is(target error) bool  { return target == ErrNotAcquired }
func (*OverloadError) Is(err error) bool { return err == ErrOverloaded }
func (e *abandonError) Unwrap() []error  { return e.all }
func (e *OverloadError) Error() string {
	return fmt.Sprintf("%v: limit of %d %s", ErrOverloaded, e.Limit, e.Scope)
}
func (e *opError) Error() string      { return fmt.Sprintf("%v: %s: %v", e.kind, e.op, e.cause) }
func (e *abandonError) Error() string { return errors.Join(e.all...).Error() }

// HeldError says that the lock was not to be had in time: somebody else has it, or Redis
// gave no verdict (Err), or was not asked, since too many other commands were under way.
// It matches ErrNotAcquired.
type HeldError struct {
	Owner Owner         // the holder, when known
	TTL   time.Duration // what was left of its lease; -1 if the key had no TTL, 0 if unknown
	Err   error         // the last server error met while waiting, if any
}

func (e *HeldError) Error() string {
	s := ErrNotAcquired.Error()
	if !e.Owner.IsZero() {
		s += fmt.Sprintf(": held by %s for another %v", e.Owner, e.TTL)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the server error met while waiting.
func (e *HeldError) Unwrap() error { return e.Err }

// OverloadError names the limit that a call ran into. It matches ErrOverloaded.
type OverloadError struct {
	Limit int    // the bound that was reached
	Scope string // what is limited
}

// opError is an operation that Redis gave no verdict on (ErrUnavailable) or
// refused (the server's own error).
type opError struct {
	kind  error
	op    string
	cause error
}

// errGone: the hold was lost, so it is not ours to unlock or extend.
var errGone = fmt.Errorf("%w: %w", ErrNotHeld, ErrLost)

// errTooSlow: the grant's lease was over when its reply arrived.
var errTooSlow = &opError{ErrUnavailable, "acquire", errors.New("the reply took longer than the lease")}

func unavailable(op string, a *answer) error {
	if errors.Is(a.err, rediscmd.ErrClosed) {
		return ErrClosed
	}
	return &opError{ErrUnavailable, op, a.err}
}

// failed is a command that did not do what it should: ErrUnavailable where there
// was no verdict or the server is merely in no state to serve, else the server's
// own, definite no.
func failed(op string, a *answer) error {
	if a.outcome != rediscmd.OutcomeFailed || rediscmd.IsServerState(a.err) || errors.Is(a.err, rediscmd.ErrClosed) {
		return unavailable(op, a)
	}
	return fmt.Errorf("holdfast: %s: %w", op, a.err)
}

// abandonError is what a caller sees whose ctx ended before it was granted.
type abandonError struct{ all []error }

// Abandoned is the cause to cancel an acquire with when ctx has ended: it matches
// ErrNotAcquired, ctx's own error and cause, and the trouble that the wait met.
func abandoned(ctx context.Context, trouble error) error {
	all := []error{ErrNotAcquired, ctx.Err()}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		all = append(all, cause)
	}
	if trouble != nil {
		all = append(all, &opError{ErrUnavailable, "acquire", trouble})
	}
	return &abandonError{all}
}

func errorType(err error) string {
	var t interface{ ErrorType() string }
	if errors.As(err, &t) {
		return t.ErrorType()
	}
	return "other"
}
