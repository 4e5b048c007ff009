package actors

import (
	"math"
	"sync"
	"sync/atomic"
)

// admission is where acquires wait while the pipeline is full: their names have not
// heard of them yet. With tens of thousands of names under way at once, more commands
// in flight do not make Redis faster. They only wait in the pipeline, each with an
// actor, a work and a place in the table, all of which have left the processor's cache
// when their turn comes. What waits here is a Hold and nothing else.
//
// Whoever waits here is let in first come, first served, and who comes later waits
// behind, so that each name hears its calls in their order. A call that is canceled or
// out of time goes to its name at once, which knows what to do. A try passes by: it
// waits for nobody. So does everything about a hold: unlocks make room.
//
// Commands that come back let the next ones in, and so does who has just begun to
// wait: either that one sees the last command come back, or who brought it sees that
// somebody waits.
type admission struct {
	most    atomic.Int64          // commands in flight when nobody is let in any more
	n       atomic.Int64          // who waits
	trouble atomic.Pointer[error] // the last of any name, for those who have asked none

	mu    sync.Mutex // held during delivery, too: the order is that of delivery
	queue calls
}

// limit sets the number of commands in flight that fill the pipeline; 0: none does.
func (q *admission) limit(most int) {
	if most == 0 {
		most = math.MaxInt
	}
	q.most.Store(int64(most))
}

// room reports whether the pipeline has room.
func (s *System) room() bool { return s.inFlight.Load() < s.admission.most.Load() }

// mustWait reports whether an acquire has to wait here.
func (s *System) mustWait(h *Hold) bool {
	return !h.try && (s.admission.n.Load() > 0 || !s.room())
}

// await makes an acquire wait. The WaitFor bound ticks from here on.
func (s *System) await(h *Hold) {
	q := &s.admission
	q.mu.Lock()
	h.outside = true
	q.queue.push(&h.call)
	h.bound()
	q.n.Add(1)
	q.mu.Unlock()
	s.admit()
}

// admit lets in who waits as long as there is room.
func (s *System) admit() {
	q := &s.admission
	for q.n.Load() > 0 && s.room() {
		q.mu.Lock()
		c := q.queue.head
		if c == nil {
			q.mu.Unlock()
			return
		}
		s.letIn(c.hold)
	}
}

// expedite lets h in out of its turn, if it waits.
func (s *System) expedite(h *Hold) {
	if s.admission.n.Load() == 0 {
		return
	}
	s.admission.mu.Lock()
	if h.outside {
		s.letIn(h)
	} else {
		s.admission.mu.Unlock()
	}
}

// letIn is entered with the admission's mutex held and leaves it.
func (s *System) letIn(h *Hold) {
	q := &s.admission
	q.queue.remove(&h.call)
	h.outside = false
	run, ok := s.table.enqueue(h.key, &h.message)
	q.n.Add(-1)
	q.mu.Unlock()
	switch {
	case !ok:
		h.fail(ErrClosed, nil)
	case run != nil:
		run.drain()
	}
}

// dismiss lets in all who wait, and who comes later: the table is closed, and says so.
func (s *System) dismiss() {
	s.admission.limit(0)
	s.admit()
}
