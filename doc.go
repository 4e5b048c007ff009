// Package holdfast is a distributed lock runtime on Redis. It speaks Redisson's
// wire format, so that Go and Java services hold the same locks.
//
// # What it is
//
// A [Runtime] serves any number of locks over one Redis client. Each lock name
// in use is an actor, every call returns a future, one timing wheel keeps the
// leases alive in batches, and one pipeline carries every script. A held lock
// costs no goroutine, and neither does a waiting call.
//
//	rt, err := holdfast.New(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
//	if err != nil {
//		return err
//	}
//	defer rt.Close(context.Background())
//
//	err = rt.Lock("order:42").Do(ctx, func(ctx context.Context) error {
//		return ship(ctx) // ctx is cancelled, with cause ErrLost, if the lock goes away
//	})
//
// # What it promises
//
// A lock from this library is a lease, not a mutex. It says that, by the clocks
// involved, nobody else was given the name until the deadline. It cannot stop
// code that is already running: check [Hold.ValidFor] or the hold's context right
// before an effect, and let the resource refuse what comes too late.
//
// As long as Redis keeps the writes that it acknowledged: two owners' validity
// intervals never overlap; a loss is signalled before the lease can end on the
// server, even when Redis is unreachable; nothing is renewed after its unlock;
// nobody else's hold is ever unlocked or renewed; a reply that was lost is
// treated as unknown, and settled, never repeated blindly; and nothing is left
// in Redis but keys with a TTL.
//
// # Waiting and holding
//
// They are bounded by different things. The ctx of a call and [WaitFor] bound the
// wait. The lease bounds the hold: without [LeaseFor] it is the watchdog timeout
// (30 s), renewed every third of it until the hold ends. The hold's own context
// ([Hold.Context]) ends with it and has a cause: [ErrLost], [ErrReleased] or
// [ErrClosed].
//
// # Owners
//
// There are no thread ids in Go. Every acquisition is made by an [Owner]: a fresh
// one, or the one that the ctx carries ([Hold.Context] carries its own), or the
// one given with [As]. The same owner re-enters a lock, others wait. A ctx leaks
// into the goroutines it is given to: hand [ContextWithoutOwner] to a goroutine
// that must exclude its parent.
//
// # Futures
//
// The Async forms return a [future.Future]. Taking the hold out of it, by Get or
// by a callback, claims it; only then does the watchdog renew. A grant that
// nobody takes is given back when its ctx ends, at the latest by its lease.
//
// # Errors
//
// Ask with errors.Is: [ErrNotAcquired] (a *[HeldError] says who holds it),
// [ErrNotHeld], [ErrLost], [ErrCanceled], [ErrClosed], [ErrUnavailable],
// [ErrInvalidName], [ErrInvalidLease], [ErrInvalidOwner], [ErrOverloaded]. When the
// caller's ctx ended the wait, the ctx's own error matches too, and so does the
// server error, if any, that the wait had met.
package holdfast
