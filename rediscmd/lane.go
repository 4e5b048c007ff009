package rediscmd

import (
	"sync"
	"time"
)

// lane is the way to one primary: two FIFO queues and the workers that empty them.
// Its mutex is held briefly, never during I/O; workers without work park on its cond,
// which a synctest bubble understands.
//
// A worker is idle (parked), at home (about to look at the queue), or away with a
// batch until that is completed (a small one: answered). Another one sets out only when
// nobody is at home and as many operations are queued as are on their way: a second
// caller does not wait for the first one's reply, while under load the queue grows and
// few large batches travel, which cost both sides least. Operations that are answered
// are not on their way: while one worker completes them, the next keeps the server busy.
// An operation waits at most for one reply, or two if a batch has to go again.
//
// A caller that waits for its own operation brings a worker along: see guest.go.
type lane struct {
	c       *Client
	mu      sync.Mutex
	cond    sync.Cond
	urgent  queue // release, hand-off, force, renew: they keep or end leases
	normal  queue // acquire, check, inspect
	workers int
	idle    int     // parked on cond, and not called
	away    int     // workers
	carried int     // operations that are on their way, not yet answered
	coming  int     // guests that have announced themselves
	spare   *worker // for a guest
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
	if op.terms.script.urgent {
		l.urgent.push(op)
	} else {
		l.normal.push(op)
	}
	l.call()
	return true
}

// call sends a worker to the queue if one is due.
func (l *lane) call() {
	switch queued := l.queued(); {
	case l.home() > 0 || queued < max(l.carried, 1):
	case l.coming > 0 && queued == 1 && l.away == 0 && !l.closed: // for the guest
	case l.idle > 0:
		l.idle--
		l.cond.Signal()
	case l.workers < l.c.cfg.Workers:
		l.workers++
		l.wg.Go(func() { (&worker{lane: l}).run() })
	}
}

func (l *lane) queued() int { return l.urgent.n() + l.normal.n() }
func (l *lane) home() int   { return l.workers - l.idle - l.away }

// take waits for work and sets out with a batch of it, appended to ops: urgent ones
// first, each kind in its order. Nothing appended means closed and empty.
func (l *lane) take(ops []*Op) []*Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.queued() == 0 {
		if l.closed {
			return ops
		}
		l.idle++
		l.cond.Wait()
	}
	ops = l.leave(ops)
	l.call()
	return ops
}

// leave sets out with a batch. Called with mu held.
func (l *lane) leave(ops []*Op) []*Op {
	most := l.c.cfg.MaxBatch
	ops = l.urgent.move(ops, most)
	ops = l.normal.move(ops, most-len(ops))
	l.away++
	l.carried += len(ops)
	return ops
}

// landed says that n operations are answered, and whether the worker that carried
// them is at home again.
func (l *lane) landed(n int, home bool) {
	l.mu.Lock()
	l.carried -= n
	if home {
		l.away--
	}
	l.call()
	l.mu.Unlock()
}

// close lets the workers end once the queues are empty.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.call()
	l.idle = 0
	l.cond.Broadcast()
}

// abandon fails what is queued.
func (l *lane) abandon() {
	l.mu.Lock()
	urgent, normal := l.urgent, l.normal
	l.urgent, l.normal = queue{}, queue{}
	l.mu.Unlock()
	for _, q := range []*queue{&urgent, &normal} {
		for q.n() > 0 {
			op := q.pop()
			op.fail(ErrClosed, time.Time{})
			l.c.complete(op)
		}
	}
}
