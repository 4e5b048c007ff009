// Package future is about a value that will be known later: written once, read by any number of goroutines, canceled
// by anybody until somebody has taken it.
//
// A [Promise] is the producer's side, a [Future] the reader's. The Promise contains its Future, and both are made to be
// embedded in the struct that describes the work, so that a request and its future are one allocation:
//
//	type request struct {
//		name    string
//		promise future.Promise[*Reply]
//	}
//
// [New], [Resolved], [Failed] and [Go] are for everybody who has no such struct.
//
// # States
//
//	          Settle(v, nil)                 first reader takes v
//	pending -----------------------> ready ------------------------> claimed
//	  |  |                             |
//	  |  |  Settle(_, err)             |  Cancel: v goes back to the producer
//	  |  +-----------------> failed    |
//	  |                                v
//	  +---------------------------> canceled
//	     Cancel
//
// Claimed, failed and canceled are final. Ready is done for everybody who only looks ([Future.Done], [Future.IsDone]),
// but its value belongs to nobody yet: whichever comes first, one reader's claim or one Cancel, decides by one
// compare-and-swap. A Cancel that wins there is not a second write: the value it takes away was never seen, and every
// reader, before or after, sees one outcome only.
//
// That is what a future of a resource needs. When a lock was granted and the caller has gone away, the grant must go
// back, once; when the caller has it, nobody may take it away. The producer follows this as a [Keeper]: each success
// value is either Claimed or comes back, through Canceled or Discarded.
//
// What claims: [Future.Get] and [Future.TryGet] that return a success value, the delivery of one to a
// callback of [Future.OnComplete] or to the function of [Map] or [Then], and being in the result of [All], [Any] or [Race].
// What does not: Done, IsDone, registering a callback, [Completed], and whatever a combinator only waits for.
//
// # Readers
//
// The ctx of Get ends that wait and nothing else: not the work, not another reader's wait. A result that is there beats
// a ctx that is done. To give up the work, Cancel.
//
// # Combinators own what they are given
//
// All, Any and Race cancel every future that they do not return a value of: losers, the siblings of an error, all of
// them when ctx ends. They wait without claiming and claim only what they return, so that a resource which arrives too
// late goes back to its producer. Canceling a future made by Map or Then cancels its source. A value that Map has handed
// to its function still goes back when nobody takes the result; one that Then has handed over belongs to the function.
//
// # Goroutines
//
// Settling never blocks and never runs foreign code: it costs one short mutex, one send to each blocked reader, and one
// goroutine if there are callbacks. Callbacks run on that goroutine, in the order of registration, with no lock held;
// never on the goroutine that settles (it may be an actor or read a socket) and never on the one that registers. A
// Keeper's methods run on the goroutine that caused them, which for Cancel and Get is the caller's.
//
// No other goroutine is started, except by Go for its function. Nothing needs closing: a future that nobody settles is
// garbage like any other value, and its blocked readers wait for their ctx.
//
// # Memory
//
// What a goroutine did before Settle or Cancel happens before every return that reports the outcome: Get, TryGet with
// ok, IsDone with true, a receive from Done, a callback.
//
// # Panics
//
// A panic in the function of Map, Then or Go fails the derived future with a [*PanicError]. One in an OnComplete
// callback has no future to fail and goes to the handler of [SetPanicHandler]. Neither stops other callbacks.
package future
