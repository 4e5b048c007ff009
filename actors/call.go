package actors

import "time"

// callKind says what a caller asked of a name.
type callKind uint8

const (
	callAcquire callKind = iota
	callUnlock
	callExtend
	callForce
	callInspect // changes nothing: the transition function never sees it
)

// phase is how far a call has come. It only moves inside the transition
// function, so whoever reads it there reads the truth. It also says which list
// the call is in, if any.
type phase uint8

const (
	phaseNew     phase = iota
	phaseUrgent        // in the urgent queue: its turn comes before any waiter's
	phaseQueued        // acquire: in the waiting queue
	phaseFlying        // its command is on its way
	phaseGranted       // acquire: the owner has this level of the lock (tenure.levels)
	phaseOver          // settled, nothing more will happen to it
)

// call is one request to a name, as the transition function sees it: plain data.
// It is embedded in the struct that carries its future (a Hold is the acquire it
// began as), so a request, its queue node and its message are one allocation.
// There is one for each waiter and each hold: what only other calls need is
// behind duty.
type call struct {
	tenure *tenure // acquire: once granted; unlock and extend: what they are about
	hold   *Hold   // an acquire's; nil in a simulation
	owner  Owner

	message // the call as a letter to its actor, posted once

	next, prev *call // queue links; a granted acquire is linked into its tenure
	*duty            // not an acquire's

	lease  time.Duration // whole milliseconds
	unsure time.Duration // a lost reply may have granted it until then; 0: no

	attempts int32
	place    int32 // its place in the queue when it entered, from 1
	count    int32 // the owner's count after this grant
	kind     callKind
	phase    phase
	woke     wakeup // what its latest attempt was woken by, if it was parked
	watchdog bool   // no explicit lease: renewed while it is held
	try      bool   // one attempt, no waiting
	shared   bool   // the owner may have other calls under way (As, ctx)
	reentry  bool   // the owner has the lock: one level more
	record   bool   // somebody wants to know who holds it (a span, a try)
	late     bool   // its time was up before its name heard of it
	dropped  bool   // its caller was answered while it was flying
	blocked  bool   // somebody else had it when it was first looked at
}

// duty is what a call needs that is no acquire.
type duty struct {
	after settler // where the outcome goes; nil where nobody asked (giving back, simulation)

	// Unlock.
	at    time.Duration // when it was asked for
	of    *call         // the level to give back
	to    *call         // the hand-off's target, kept while its outcome is unknown
	all   bool          // every level: nobody is left to want any of them
	plain bool          // no hand-off: the server refused one
}

// settler receives the outcome of a call that is no acquire.
type settler interface {
	settle(did bool, err error, now time.Duration)
}

// settle tells whoever asked for a call that is no acquire.
func (c *call) settle(did bool, err error, now time.Duration) {
	if c.duty != nil && c.after != nil {
		c.after.settle(did, err, now)
	}
}

// target is the waiter that a hand-off passes the lock to.
func (c *call) target() *call {
	if c.duty == nil {
		return nil
	}
	return c.to
}

// calls is a FIFO of calls, linked through them. The head's prev is the tail.
type calls struct {
	head *call
	n    int
}

func (q *calls) push(c *call) {
	c.next = nil
	if q.head == nil {
		q.head, c.prev = c, c
	} else {
		tail := q.head.prev
		tail.next, c.prev, q.head.prev = c, tail, c
	}
	q.n++
}

func (q *calls) pushFront(c *call) {
	if q.head == nil {
		q.push(c)
		return
	}
	c.next, c.prev = q.head, q.head.prev
	q.head.prev = c
	q.head = c
	q.n++
}

// remove takes out a call that is in q.
func (q *calls) remove(c *call) {
	next, prev := c.next, c.prev
	if c == q.head {
		q.head = next
	} else {
		prev.next = next
	}
	if next != nil {
		next.prev = prev
	} else if q.head != nil {
		q.head.prev = prev
	}
	c.next, c.prev = nil, nil
	q.n--
}

func (q *calls) pop() *call {
	c := q.head
	if c != nil {
		q.remove(c)
	}
	return c
}
