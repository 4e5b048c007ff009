package actors

import "time"

// callKind says what a caller asked of a name.
type callKind uint8

const (
	callAcquire callKind = iota
	callUnlock
	callExtend
	callForce
)

// phase is how far a call has come. It only moves inside the transition
// function, so whoever reads it there reads the truth.
type phase uint8

const (
	phaseNew     phase = iota
	phaseUrgent        // in the urgent queue: its turn comes before any waiter's
	phaseQueued        // acquire: in the waiting queue
	phaseFlying        // its command is on its way
	phaseGranted       // acquire: the owner has this level of the lock
	phaseOver          // settled, nothing more will happen to it
)

// call is one request to a name, as the transition function sees it: plain data.
// It is embedded in the struct that carries its future (a Hold is the acquire it
// began as), so a request, its queue node and its message are one allocation.
type call struct {
	message // the call as a letter to its actor, posted once

	next, prev *call // queue links; a granted acquire is linked into its tenure
	list       *calls

	kind  callKind
	phase phase

	// Acquire.
	owner    Owner
	lease    time.Duration // whole milliseconds
	watchdog bool          // no explicit lease: renewed while it is held
	try      bool          // one attempt, no waiting
	shared   bool          // the owner may have other calls under way (As, ctx)
	reentry  bool          // the owner has the lock: one level more
	record   bool          // somebody wants to know who holds it (a span, a try)
	dropped  bool          // its caller was answered while it was flying
	blocked  bool          // somebody else had it when it was first looked at
	place    int           // its place in the queue when it entered, from 1
	woke     string        // what its latest attempt was woken by, if it was parked
	attempts int
	unsure   time.Duration // a lost reply may have granted it until then; 0: no

	// Acquire once granted; unlock and extend: what they are about.
	tenure *tenure

	// Unlock.
	at    time.Duration // when it was asked for
	of    *call         // the level to give back
	all   bool          // every level: nobody is left to want any of them
	to    *call         // the hand-off's target, kept while its outcome is unknown
	plain bool          // no hand-off: the server refused one

	// Where the outcome goes; nil where nobody asked (giving back, simulation).
	hold  *Hold
	after settler
}

// settler receives the outcome of an unlock, an extend or a forced unlock.
type settler interface{ settle(did bool, err error) }

// calls is a FIFO of calls, linked through them.
type calls struct {
	head, tail *call
	n          int
}

func (q *calls) push(c *call) {
	c.list, c.prev, c.next = q, q.tail, nil
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	q.n++
}

func (q *calls) pushFront(c *call) {
	c.list, c.prev, c.next = q, nil, q.head
	if q.head == nil {
		q.tail = c
	} else {
		q.head.prev = c
	}
	q.head = c
	q.n++
}

func (q *calls) remove(c *call) {
	if c.list != q {
		return
	}
	if c.prev == nil {
		q.head = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.tail = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.list, c.prev, c.next = nil, nil, nil
	q.n--
}

func (q *calls) pop() *call {
	c := q.head
	if c != nil {
		q.remove(c)
	}
	return c
}
