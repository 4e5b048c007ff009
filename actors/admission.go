package actors

import (
	"math"
	"runtime/debug"
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
// out of time goes to its name at once, which ends it. Three kinds of calls pass by: a
// try, which waits for nobody; one whose owner was given, which may be a re-entry;
// and all that is about a hold, since unlocks make room.
//
// Commands that come back let the next ones in, and so does who has just begun to
// wait: either that one sees the last command come back, or who brought it sees that
// somebody waits.
type admission struct {
	most    atomic.Int64          // commands in flight when nobody is let in any more
	n       atomic.Int64          // who waits
	trouble atomic.Pointer[error] // Redis' last word, if it was no verdict: for those who have asked nothing

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

// has reports whether h waits.
func (q *admission) has(h *Hold) bool {
	if q.n.Load() == 0 {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return h.outside
}

// answered notes that Redis gave a verdict.
func (q *admission) answered() {
	if q.trouble.Load() != nil {
		q.trouble.Store(nil)
	}
}

func (q *admission) lastTrouble() error {
	if err := q.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// room reports whether the pipeline has room.
func (s *System) room() bool { return s.inFlight.Load() < s.admission.most.Load() }

// mustWait reports whether an acquire has to wait here.
func (s *System) mustWait(h *Hold) bool {
	return !h.try && !h.shared && (s.admission.n.Load() > 0 || !s.room())
}

// await makes an acquire wait. The WaitFor bound ticks from here on. What ends the wait
// early looks at n first, so n comes before the timer, and before the last look at the
// future.
func (s *System) await(h *Hold) {
	q := &s.admission
	q.mu.Lock()
	h.outside = true
	q.queue.push(&h.call)
	q.n.Add(1)
	h.bound()
	if h.promise.Future().IsDone() {
		s.letIn(h)
	} else {
		q.mu.Unlock()
	}
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

// expedite lets h in out of its turn, if it waits: to be ended, since it is canceled,
// or late.
func (s *System) expedite(h *Hold, late bool) {
	if s.admission.n.Load() == 0 {
		return
	}
	s.admission.mu.Lock()
	if !h.outside {
		s.admission.mu.Unlock()
		return
	}
	h.late = late
	s.letIn(h)
	s.admit() // the name's last reply may have come while this goroutine ran its actor
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
		s.refuse(h)
	case run != nil:
		run.drain()
	}
}

// refuse ends a wait because the table is closed. Whoever let it in has nothing to do
// with it, and must not suffer from a telemetry provider that panics.
func (s *System) refuse(h *Hold) {
	defer func() {
		if v := recover(); v != nil {
			s.complain("panic while refusing an acquire", h.key.name, v, debug.Stack())
		}
	}()
	h.fail(ErrClosed, nil)
}

// dismiss lets in all who wait, and who comes later: the table is closed, and says so.
func (s *System) dismiss() {
	s.admission.limit(0)
	s.admit()
}
