package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/telemetry"
)

// wakeup is what a parked waiter is woken by.
type wakeup uint8

const (
	wokeByNothing wakeup = iota
	wokeByMessage
	wokeByTTL
	wokeByPoll
)

var wakeupNames = [...]string{"", telemetry.WakeupMessage, telemetry.WakeupTTL, telemetry.WakeupPoll}

// String returns what telemetry calls it.
func (w wakeup) String() string { return wakeupNames[w] }

// listen subscribes when somebody waits, and stops when nobody does. The free
// path does not subscribe: only a queued acquire that has been refused, or that
// waits behind a holder of this runtime, is worth a subscription.
func (s *state) listen() {
	want := s.queue.n > 0 && (s.tenure != nil || s.parked)
	switch {
	case want && !s.listening:
		s.listening, s.heard, s.known = true, false, true
		s.emit(effect{kind: fxSubscribe})
	case s.listening && s.queue.n == 0 && !s.flyingWaiter():
		s.listening, s.heard = false, false
		s.emit(effect{kind: fxUnsubscribe})
	}
}

// waiting counts the acquires that wait, the one whose turn is being decided
// right now included.
func (s *state) waiting() int {
	n := s.queue.n
	c := s.flight.call
	if s.flight.kind == askHandOff {
		c = c.to
	}
	if s.flyingWaiter() && !c.dropped {
		n++
	}
	return n
}

// flyingWaiter reports whether a waiter's own turn is being decided right now:
// it is out of the queue, but may come back to it.
func (s *state) flyingWaiter() bool {
	return s.flight.kind == askHandOff || s.flight.kind == askAcquire && !s.flight.call.try
}

// woken: a message on the unlock channel. It says that the name was released by
// somebody, perhaps by force, perhaps from under us.
func (s *state) woken(now time.Duration) {
	switch {
	case s.tenure != nil:
		leaving := s.flight.kind == askHandOff || s.flight.kind == askRelease && s.flight.level == 0
		s.doubt = s.doubt || !leaving
		s.again = s.again || s.flight.kind == askHandOff // which publishes nothing itself
	case now < s.deaf:
	default:
		s.unpark(wokeByMessage)
	}
}

// subscribed: from now on messages arrive, but one may have been missed before:
// look again (design section 7: Receive re-subscribes silently).
func (s *state) subscribed(now time.Duration) {
	if !s.listening {
		return
	}
	if s.tenure != nil {
		s.doubt = s.doubt || s.heard
	} else if now >= s.deaf {
		s.unpark(wokeByMessage)
	}
	s.heard = true
}

// unpark lets the head ask at once, or right after the attempt that is flying.
func (s *state) unpark(why wakeup) {
	if s.parked {
		s.wokeBy = why
	}
	s.parked, s.pollAt = false, 0
	s.again = s.flight.kind == askAcquire
}

// park makes the head wait for a message, for the holder's TTL, or for the poll
// bound, whichever is first. A key without TTL and a TTL of zero are polled too:
// no answer of Redis makes us wait for ever or spin (redisson-wire 3.6, 22 #9).
func (s *state) park(now, ttl time.Duration) {
	const shortest = 2 * time.Millisecond
	wait := s.rules.poll
	s.pollWhy = wokeByPoll
	if ttl >= 0 && ttl < wait {
		wait, s.pollWhy = max(ttl, shortest), wokeByTTL
	}
	s.parked = true
	s.pollAt = now + wait + s.jitter(wait/16+time.Millisecond)
	if now < s.deaf { // somebody took it while we stand back: go on with that
		s.pollAt, s.pollWhy = s.deaf, wokeByPoll
	}
}

// canceled: the caller of an acquire no longer wants it. Its future is settled
// already; what is left is to leave nothing behind.
func (s *state) canceled(c *call) {
	switch c.phase {
	case phaseQueued:
		s.dequeue(c)
		s.letGo(c)
		s.emit(effect{kind: fxDrop, call: c})
	case phaseUrgent:
		s.urgent.remove(c)
		s.letGo(c)
		s.emit(effect{kind: fxDrop, call: c})
	case phaseFlying:
		if !c.dropped {
			c.dropped = true
			s.emit(effect{kind: fxDrop, call: c})
		}
	case phaseGranted:
		if c.tenure.live.Load() {
			s.emit(effect{kind: fxEnd, call: c, ending: endedReleased, reason: endUnclaimed})
			u := &call{kind: callUnlock, tenure: c.tenure, duty: &duty{of: c}}
			s.pushUrgent(u)
		}
	}
}

// waitOver: the WaitFor bound passed. It ends the wait, never a hold.
func (s *state) waitOver(c *call, now time.Duration) {
	switch c.phase {
	case phaseQueued:
		s.dequeue(c)
		s.fail(c, s.held(now))
	case phaseUrgent:
		s.urgent.remove(c)
		s.fail(c, s.held(now))
	case phaseFlying:
		if !c.dropped {
			c.dropped = true
			s.emit(effect{kind: fxFail, call: c, err: s.held(now)})
		}
	}
}

// held says who has the name, as far as we know without asking: a holder of this
// runtime, or the one that Redis named last.
func (s *state) held(now time.Duration) error {
	e := &HeldError{}
	if t := s.tenure; t != nil {
		e.Owner, e.TTL = t.owner(), max(0, t.expiry()-now)
	} else if s.holder != "" {
		e.Owner, _ = ParseOwner(s.holder)
		e.TTL = max(0, s.holderEnd-now)
	}
	return e
}

// haunt notes an owner whose acquire may have run unnoticed.
func (s *state) haunt(o Owner, until time.Duration) {
	for i := range s.ghosts {
		if s.ghosts[i].owner == o {
			s.ghosts[i].until = max(s.ghosts[i].until, until)
			return
		}
	}
	s.ghosts = append(s.ghosts, ghost{owner: o, until: until})
}

// exorcise sends the release of a ghost whose time has come. An owner that has
// meanwhile come by the name properly is no ghost any more.
func (s *state) exorcise(now time.Duration) bool {
	for i := 0; i < len(s.ghosts); i++ {
		g := &s.ghosts[i]
		if s.tenure != nil && s.tenure.owner() == g.owner || g.tries > 0 && now >= g.until {
			s.ghosts = append(s.ghosts[:i], s.ghosts[i+1:]...)
			i--
			continue
		}
		if now >= g.next {
			s.ask(command{kind: askRelease, owner: g.owner})
			return true
		}
	}
	return false
}
