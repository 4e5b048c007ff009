package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// step is the transition function: it takes what happened to a name, changes the
// state, and leaves in s.out what is to be done about it. Every behaviour of a
// lock is decided here or in the step_*.go files beside it, and nowhere else.
//
// After the event's own arm, advance picks the next command if none is in
// flight, and the timer is asked for anew if the state wants it at another time.
func (s *state) step(ev *event) {
	switch ev.kind {
	case evCall:
		s.called(ev.call, ev.now)
	case evCancel:
		s.canceled(ev.call)
	case evWaitOver:
		s.waitOver(ev.call, ev.now)
	case evReply:
		s.replied(&ev.reply, ev.now)
	case evWake:
		s.woken(ev.now)
	case evSubscribed:
		s.subscribed(ev.now)
	case evTimer:
		s.timerAt = 0
		if s.pollAt != 0 && ev.now >= s.pollAt {
			s.unpark(s.pollWhy)
		}
	case evExpired:
		s.expired(ev.tenure, ev.now)
	case evRefused:
		s.lose(ev.tenure, lossGone)
	case evClose:
		s.close()
	}
	s.advance(ev.now)
	s.listen()
	s.setTimer(ev.now)
}

// called lets a call in, or turns it away at once.
func (s *state) called(c *call, now time.Duration) {
	if s.closing {
		s.finish(c, false, ErrClosed)
		return
	}
	switch c.kind {
	case callAcquire:
		s.enter(c, now)
	case callUnlock, callExtend:
		if c.kind == callUnlock {
			c.at = now
		}
		if t := c.tenure; !t.live.Load() {
			s.finish(c, false, errGone)
			return
		}
		s.pushUrgent(c)
	case callForce:
		s.pushUrgent(c)
	}
}

func (s *state) pushUrgent(c *call) {
	c.phase = phaseUrgent
	s.urgent.push(c)
}

// advance sends the next command if there is none in flight: what is urgent in
// order of arrival, then ghosts, then a doubt about the own hold, then the head
// of the waiting queue. The gate holds everything back while Redis is in trouble.
func (s *state) advance(now time.Duration) {
	for s.flight.kind == askNone {
		if now < s.gate {
			return
		}
		if c := s.urgent.pop(); c != nil {
			s.begin(c, now)
			continue
		}
		if s.exorcise(now) {
			return
		}
		if t := s.tenure; t != nil {
			if s.doubt {
				s.doubt = false
				s.ask(command{kind: askCheck, tenure: t, owner: t.owner()})
			}
			return
		}
		if s.queue.n == 0 || s.parked {
			return
		}
		head := s.queue.head
		s.dequeue(head)
		head.woke, s.wokeBy = s.wokeBy, wokeByNothing
		s.attempt(head, now)
	}
}

// begin starts an urgent call's command, or settles the call if there is
// nothing left to ask.
func (s *state) begin(c *call, now time.Duration) {
	switch c.kind {
	case callAcquire:
		s.attempt(c, now)
	case callUnlock:
		s.giveUp(c, now)
	case callExtend:
		t := c.tenure
		if !t.live.Load() {
			s.finish(c, false, errGone)
			return
		}
		c.phase = phaseFlying
		s.ask(command{kind: askExtend, call: c, tenure: t, owner: t.owner(), lease: t.leaseFor(c.lease, now, s.rules)})
	case callForce:
		// Whoever holds it here is told before the key goes: afterwards somebody
		// else may have it.
		cmd := command{kind: askForce, call: c}
		if t := s.tenure; t != nil {
			cmd.owner = t.owner()
			s.lose(t, lossForced)
		}
		c.phase = phaseFlying
		s.ask(cmd)
	}
}

func (s *state) ask(cmd command) {
	s.flight = cmd
	s.emit(effect{kind: fxAsk})
}

// replied hands the answer to whoever asked.
func (s *state) replied(a *answer, now time.Duration) {
	f := s.flight
	s.flight = command{}
	if a.outcome == rediscmd.OutcomeDone || a.outcome == rediscmd.OutcomeFailed {
		s.settled()
	} else {
		s.backOff(now)
		s.emit(effect{kind: fxTrouble, err: a.err})
	}
	s.reached(&f, a, now)
	switch f.kind {
	case askAcquire:
		s.answeredAcquire(&f, a, now)
	case askRelease:
		if f.call == nil {
			s.answeredGhost(&f, a, now)
		} else {
			s.answeredRelease(&f, a, now)
		}
	case askHandOff:
		s.answeredHandOff(&f, a, now)
	case askExtend:
		s.answeredExtend(&f, a)
	case askForce:
		if a.outcome == rediscmd.OutcomeDone {
			s.finish(f.call, a.verdict == rediscmd.Released, nil)
		} else {
			if !f.owner.IsZero() {
				s.haunt(f.owner, now+s.rules.watchdog) // lost to its holder, so it must go
			}
			s.finish(f.call, false, failed("force unlock", a))
		}
	case askCheck:
		if a.outcome == rediscmd.OutcomeDone && a.verdict == rediscmd.Absent {
			s.lose(f.tenure, lossGone)
		}
	}
}

// reached notes how long a lease may last that we do not count on: set by a
// command whose reply was lost, or for a tenure that ended while it flew.
func (s *state) reached(f *command, a *answer, now time.Duration) {
	t := f.tenure
	if t == nil || f.lease == 0 || f.kind == askHandOff {
		return
	}
	if a.outcome == rediscmd.OutcomeUnknown {
		t.reach = max(t.reach, now+f.lease)
	}
	if !t.live.Load() && (a.outcome == rediscmd.OutcomeUnknown || a.outcome == rediscmd.OutcomeDone) {
		s.haunt(f.owner, now+f.lease)
	}
}

func (s *state) answeredExtend(f *command, a *answer) {
	t := f.tenure
	switch {
	case !t.live.Load():
		s.finish(f.call, false, errGone)
	case a.outcome != rediscmd.OutcomeDone:
		s.finish(f.call, false, failed("extend", a))
	case a.verdict == rediscmd.Absent:
		s.lose(t, lossGone)
		s.finish(f.call, false, errGone)
	default:
		t.lease = f.lease
		t.trust(a.sentAt, f.lease)
		s.emit(effect{kind: fxWatch, tenure: t})
		s.finish(f.call, true, nil)
	}
}

// finish settles an unlock, extend or force; a nil-after call has nobody to tell.
func (s *state) finish(c *call, did bool, err error) {
	if c.kind == callAcquire {
		s.fail(c, err)
		return
	}
	c.phase = phaseOver
	s.emit(effect{kind: fxDone, call: c, did: did, err: err})
}

// fail settles an acquire that got nothing.
func (s *state) fail(c *call, err error) {
	s.letGo(c)
	s.emit(effect{kind: fxFail, call: c, err: err})
}

// setTimer asks to be woken at the earliest time that anything here waits for.
func (s *state) setTimer(now time.Duration) {
	at := never
	if s.parked && s.queue.n > 0 && s.pollAt != 0 {
		at = max(s.pollAt, s.gate)
	}
	if s.flight.kind == askNone { // else its reply comes first, and asks for a timer again
		if now < s.gate && !s.quiet() {
			at = min(at, s.gate)
		}
		for i := range s.ghosts {
			at = min(at, max(s.ghosts[i].next, s.gate))
		}
	}
	if at == never {
		at = 0
	}
	if at != s.timerAt {
		s.timerAt, s.known = at, true
		s.emit(effect{kind: fxTimer, at: at})
	}
}
