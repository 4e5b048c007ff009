package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// eventKind is what can happen to a name. The set is closed: every letter in a
// mailbox carries one of these, and the transition function has one arm for each.
type eventKind uint8

const (
	evCall       eventKind = iota // a caller asks (acquire, unlock, extend, force)
	evCancel                      // a caller no longer wants its acquire, granted or not
	evWaitOver                    // the WaitFor bound of an acquire has passed
	evReply                       // the answer to the one command in flight
	evWake                        // a message on the unlock channel
	evSubscribed                  // the unlock channel is confirmed, first or again
	evTimer                       // the time that the state asked to be woken at
	evExpired                     // a tenure's local deadline may have passed
	evRefused                     // a renewal found the owner's field gone
	evInspect                     // somebody wants to see; changes nothing
	evClose                       // the runtime closes
)

// event is one thing that happened, with the time it is looked at: the
// transition function has no clock of its own.
type event struct {
	kind   eventKind
	now    time.Duration
	call   *call
	tenure *tenure
	reply  answer
}

// answer is a script's reply as the transition function needs it.
type answer struct {
	outcome rediscmd.Outcome
	verdict rediscmd.Verdict
	sentAt  time.Duration // before the first byte could leave
	ttl     time.Duration
	holder  string
	others  int // a hand-off that yielded: how many others listen
	err     error
}

// effectKind is what the transition function wants done. It never does any of
// it: the actor carries effects out, and a simulation interprets them.
type effectKind uint8

const (
	fxNone        effectKind = iota // carried out already
	fxAsk                           // send the command in state.flight
	fxGrant                         // the acquire succeeded
	fxFail                          // the acquire failed with err
	fxDrop                          // the acquire was given up by its caller, who knows
	fxDone                          // an unlock, extend or force ended with err
	fxEnd                           // a hold is over: cancel its context, and tell of a loss
	fxWatch                         // (re)start the tenure's lease timer, renewing if watched
	fxUnwatch                       // stop it: no renewal may be sent after this
	fxBlocked                       // an acquire found somebody else in the way
	fxWoke                          // an attempt that a wake-up caused did or did not get the lock
	fxTrouble                       // a server error that waiting callers should see; nil: over
	fxSubscribe                     // listen to the unlock channel
	fxUnsubscribe                   // no more
	fxTimer                         // deliver evTimer at `at`; 0: never mind
)

// effect is one thing to do; which fields count depends on its kind.
type effect struct {
	kind   effectKind
	call   *call
	tenure *tenure
	at     time.Duration // fxTimer: when; fxGrant: when the previous local owner unlocked, if it handed over
	did    bool
	ending ending // fxEnd: how
	reason string
	holder string
	err    error
}

// askKind names the scripts of a lock kind.
type askKind uint8

const (
	askNone askKind = iota
	askAcquire
	askRelease
	askHandOff
	askExtend
	askForce
	askCheck
)

// command is one script run. A name has at most one in flight, so that its
// commands reach Redis in the order in which they were decided.
type command struct {
	kind   askKind
	keep   bool // hand-off: no TTL is set, what is left of the old one suffices
	yield  rediscmd.YieldMode
	record bool    // also return who holds it
	level  int32   // acquire: the count wanted; release: the count left
	call   *call   // whose turn it is; nil for a check and for a ghost's release
	tenure *tenure // whose lease it touches
	owner  Owner
	to     Owner         // hand-off: the next owner
	lease  time.Duration // the TTL that the script sets
}
