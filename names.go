package holdfast

import (
	"context"

	"github.com/holdfast-go/holdfast/actors"
	"github.com/holdfast-go/holdfast/rediscmd"
)

// The types that a program names, where it imports one package.
type (
	// Hold is one acquired level of a lock, and the right to unlock it once.
	Hold = actors.Hold
	// Owner says who holds a lock; comparable, "uuid:number" on the wire.
	Owner = actors.Owner
	// State is what a lock looks like on the server, and who waits for it here.
	State = actors.State
	// LostInfo says which hold was lost, and why.
	LostInfo = actors.LostInfo
	// HeldError says that somebody else has the lock; it matches ErrNotAcquired.
	HeldError = actors.HeldError
	// OverloadError names the limit that a call ran into; it matches ErrOverloaded.
	OverloadError = actors.OverloadError
)

// NoTTL is the TTL of a lock whose key does not expire, which Redisson and
// holdfast never leave behind, but others may.
const NoTTL = rediscmd.NoTTL

// The errors to ask for with errors.Is.
var (
	// ErrNotAcquired: somebody else has the lock (the error is a *HeldError), or
	// the caller's ctx ended before the grant (it matches ErrCanceled, too).
	ErrNotAcquired = actors.ErrNotAcquired
	// ErrNotHeld: the hold is not, or no longer, this owner's.
	ErrNotHeld = actors.ErrNotHeld
	// ErrLost: the hold ended without its owner's doing.
	ErrLost = actors.ErrLost
	// ErrReleased is the cause of a hold's context after a normal unlock.
	ErrReleased = actors.ErrReleased
	// ErrCanceled: the request was given up by its own caller.
	ErrCanceled = actors.ErrCanceled
	// ErrClosed: the runtime was closed.
	ErrClosed = actors.ErrClosed
	// ErrUnavailable: Redis gave no verdict; the server's text is wrapped.
	ErrUnavailable = actors.ErrUnavailable
	// ErrReentered: the owner has a lock that does not let it in twice.
	ErrReentered = actors.ErrReentered
	// ErrInvalidName: the lock name cannot be used.
	ErrInvalidName = actors.ErrInvalidName
	// ErrInvalidLease: the lease is negative, below 10 ms or above 2^40 ms.
	ErrInvalidLease = actors.ErrInvalidLease
	// ErrInvalidOwner: the owner given with As belongs to another runtime.
	ErrInvalidOwner = actors.ErrInvalidOwner
	// ErrOverloaded: a limit on waiting calls was reached.
	ErrOverloaded = actors.ErrOverloaded
)

// ParseOwner reads an owner's wire form, "uuid:number".
func ParseOwner(s string) (Owner, error) { return actors.ParseOwner(s) }

// ContextWithOwner returns a ctx under which every acquire is made by owner, so
// that nested acquires of one name re-enter. It bounds nothing.
func ContextWithOwner(ctx context.Context, owner Owner) context.Context {
	return actors.ContextWithOwner(ctx, owner)
}

// ContextWithoutOwner hides the owner that ctx carries: hand it to a goroutine
// that must exclude its parent instead of re-entering with it.
func ContextWithoutOwner(ctx context.Context) context.Context {
	return actors.ContextWithoutOwner(ctx)
}
