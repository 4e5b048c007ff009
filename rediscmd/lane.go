package rediscmd

import (
	"sync"
	"time"
)

// lane is the way to one primary: two FIFO queues and the workers that empty them.
// Its mutex is held for a few instructions only, never during I/O; workers without
// work park on its cond, which a synctest bubble understands.
type lane struct {
	c       *Client
	mu      sync.Mutex
	cond    sync.Cond
	urgent  fifo // release, hand-off, force, renew: they keep or end leases
	normal  fifo // acquire, check, inspect
	idle    int  // workers parked on cond that nobody has called
	workers int
	called  bool // a worker is on its way to the queue
	closed  bool
	wg      sync.WaitGroup
}

func newLane(c *Client) *lane {
	l := &lane{c: c}
	l.cond.L = &l.mu
	return l
}

// push queues op; false when the lane is closed.
func (l *lane) push(op *Op) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if op.urgent {
		l.urgent.push(op)
	} else {
		l.normal.push(op)
	}
	l.call()
	return true
}

// call gets one worker to look at the queue, unless one is about to: the next
// operations then travel in its batch.
func (l *lane) call() {
	switch {
	case l.called:
	case l.idle > 0:
		l.idle--
		l.called = true
		l.cond.Signal()
	case l.workers < l.c.cfg.Workers:
		l.workers++
		l.called = true
		l.wg.Go(func() { (&worker{lane: l}).run() })
	}
}

// take waits for work and appends a batch of it to ops: urgent ones first, each
// kind in its order. Nothing appended means closed and empty.
func (l *lane) take(ops []*Op) []*Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.urgent.empty() && l.normal.empty() {
		l.called = false
		if l.closed {
			return ops
		}
		l.idle++
		l.cond.Wait()
	}
	l.called = false
	for len(ops) < l.c.cfg.MaxBatch && !l.urgent.empty() {
		ops = append(ops, l.urgent.pop())
	}
	for len(ops) < l.c.cfg.MaxBatch && !l.normal.empty() {
		ops = append(ops, l.normal.pop())
	}
	if !l.urgent.empty() || !l.normal.empty() {
		l.call()
	}
	return ops
}

// close lets the workers end once the queues are empty.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.idle = 0
	l.cond.Broadcast()
}

// abandon fails what is queued.
func (l *lane) abandon() {
	l.mu.Lock()
	urgent, normal := l.urgent, l.normal
	l.urgent, l.normal = fifo{}, fifo{}
	l.mu.Unlock()
	for _, q := range []*fifo{&urgent, &normal} {
		for !q.empty() {
			op := q.pop()
			op.fail(ErrClosed, time.Time{})
			l.c.complete(op)
		}
	}
}

// fifo is a list of ops, linked through them.
type fifo struct{ head, tail *Op }

func (q *fifo) empty() bool { return q.head == nil }

func (q *fifo) push(op *Op) {
	if q.tail == nil {
		q.head = op
	} else {
		q.tail.next = op
	}
	q.tail = op
}

func (q *fifo) pop() *Op {
	op := q.head
	if q.head = op.next; q.head == nil {
		q.tail = nil
	}
	op.next = nil
	return op
}
