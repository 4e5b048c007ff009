package actors

import (
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// admission is where acquires wait while the pipeline is full: their names have not
// heard of them yet. With tens of thousands of names under way at once, more commands
// in flight do not make Redis faster. They only wait in the pipeline, each with an
// actor, a work and a place in the table, all of which have left the processor's cache
// when their turn comes. What waits here is a Hold and nothing else.
//
// Whoever waits here is let in first come, first served, and who comes later waits
// behind, so that each name hears its calls in their order. A call that is canceled or
// out of time goes to its name at once, which ends it. What is no new acquire passes by:
// unlocks make room, and a re-entry that waited here would be overtaken by its own
// unlock. So does a try, which waits for nobody. Who passes by takes room that others
// wait for, so that one of those is let in for every few replies, room or not.
//
// Commands that come back let the next ones in, and so does who has just begun to
// wait: either that one sees the last command come back, or who brought it sees that
// somebody waits.
type admission struct {
	most    atomic.Int64          // commands in flight when nobody is let in any more
	n       atomic.Int64          // who waits
	replies atomic.Int64          // while somebody waited, and nobody was let in
	trouble atomic.Pointer[error] // of whoever asked Redis last, for those who have asked nothing; nil: it gave a verdict

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

// replied notes that a command came back, and whether with a verdict.
func (q *admission) replied(o rediscmd.Outcome) {
	if (o == rediscmd.OutcomeDone || o == rediscmd.OutcomeFailed) && q.trouble.Load() != nil {
		q.trouble.Store(nil)
	}
	if q.n.Load() > 0 {
		q.replies.Add(1)
	}
}

func (q *admission) lastTrouble() error {
	if err := q.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// fewReplies is how often others are answered until one more is let in all the same.
const fewReplies = 64

// room reports whether one may be let in.
func (s *System) room() bool {
	q := &s.admission
	return s.inFlight.Load() < q.most.Load() || q.replies.Load() >= fewReplies
}

// mustWait reports whether an acquire has to wait here.
func (s *System) mustWait(h *Hold) bool {
	return (s.admission.n.Load() > 0 || !s.room()) && !h.try && !s.mayReenter(h)
}

// mayReenter reports whether h's owner has the name already, as far as can be seen: not
// while the name's actor is at work.
func (s *System) mayReenter(h *Hold) bool {
	if !h.shared {
		return false
	}
	c, sh := s.table.at(h.key)
	defer sh.mu.Unlock()
	if c == nil || c.act != nil {
		return c != nil
	}
	t := c.rest.tenure
	if c.work != nil {
		t = c.work.state.tenure
	}
	return t != nil && t.owner() == h.owner
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
	q.replies.Store(0)
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
