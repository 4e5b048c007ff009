package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// enter takes an acquire in: a re-entry or a single try goes ahead of the
// waiters, everything else behind them. One that is late already is told who has it.
func (s *state) enter(c *call, now time.Duration) {
	switch t := s.tenure; {
	case c.late:
		s.fail(c, s.held(now))
	case t != nil && t.owner() == c.owner && !t.leaving:
		if !s.rules.reentrant {
			s.fail(c, ErrReentered)
			return
		}
		c.reentry = true
		s.pushUrgent(c)
	case c.try && t != nil && !t.leaving:
		// We know who has it, and until when at least: Redis could not say more.
		s.fail(c, s.held(now))
	case c.try:
		s.pushUrgent(c)
	case s.queue.n >= s.rules.maxWaiters:
		s.fail(c, &OverloadError{Limit: s.rules.maxWaiters, Scope: "waiters of one name"})
	default:
		s.enqueue(c, false)
		c.place = int32(s.queue.n)
		if t != nil {
			s.block(c, t, "")
		}
	}
}

// enqueue puts an acquire at the end of the waiting queue, or back at its front.
func (s *state) enqueue(c *call, front bool) {
	c.phase = phaseQueued
	if c.shared {
		s.sharedN++
	}
	if front {
		s.queue.pushFront(c)
	} else {
		s.queue.push(c)
	}
}

func (s *state) dequeue(c *call) {
	s.queue.remove(c)
	if c.shared {
		s.sharedN--
	}
	if s.queue.n == 0 {
		s.parked, s.pollAt = false, 0 // that was for who waited then
	}
}

// block notes, once, that the acquire found somebody in the way.
func (s *state) block(c *call, by *tenure, holder string) {
	if c.blocked {
		return
	}
	c.blocked = true
	s.emit(effect{kind: fxBlocked, call: c, tenure: by, holder: holder})
}

// attempt asks Redis for the name. The script *sets* the owner's count to level
// instead of adding to it, so that asking again after a lost reply settles what
// the first one did and never counts twice (Redisson #7367, design section 5).
func (s *state) attempt(c *call, now time.Duration) {
	t := s.tenure
	if c.reentry && (t == nil || t.owner() != c.owner || t.leaving) {
		c.reentry = false // what it meant to re-enter is gone: it starts afresh
	}
	if t != nil && !c.reentry {
		if c.try {
			s.fail(c, s.held(now))
		} else {
			s.enqueue(c, true)
			s.block(c, t, "")
		}
		return
	}
	c.phase = phaseFlying
	c.attempts++
	cmd := command{kind: askAcquire, call: c, owner: c.owner, level: 1, lease: c.lease, record: c.record}
	if c.reentry {
		cmd.tenure, cmd.level, cmd.lease = t, int32(t.levels.n)+1, t.leaseFor(c.lease, now, s.rules)
	}
	s.ask(cmd)
}

func (s *state) answeredAcquire(f *command, a *answer, now time.Duration) {
	c := f.call
	switch a.outcome {
	case rediscmd.OutcomeDone:
		c.unsure = 0
		if c.woke != wokeByNothing {
			s.emit(effect{kind: fxWoke, did: a.verdict == rediscmd.Granted, reason: c.woke.String()})
		}
		if a.verdict == rediscmd.Granted {
			s.granted(f, a, now)
		} else {
			s.refused(f, a, now)
		}
		return
	case rediscmd.OutcomeUnknown:
		c.unsure = max(c.unsure, now+f.lease) // it may have run just now
	}
	switch {
	case c.dropped:
		s.letGo(c)
	case a.outcome == rediscmd.OutcomeFailed:
		s.fail(c, failed("acquire", a))
	case c.try:
		s.fail(c, unavailable("acquire", a))
	case f.tenure != nil:
		c.phase = phaseUrgent
		s.urgent.pushFront(c)
	default:
		s.enqueue(c, true)
	}
}

// granted turns Redis' yes into a tenure, or into one level more of it.
func (s *state) granted(f *command, a *answer, now time.Duration) {
	c, t := f.call, f.tenure
	if t == nil {
		s.handed, s.since = 0, now
		s.take(c, a.sentAt, f.lease, now, 0)
		return
	}
	if !t.live.Load() {
		// The tenure ended while the re-entry flew: start afresh. What Redis
		// has now belongs to nobody that was told of it (reached).
		s.retry(c)
		return
	}
	t.lease = f.lease
	t.trust(a.sentAt, f.lease)
	if c.dropped {
		s.recount(t)
		c.phase = phaseOver
		return
	}
	s.hold(c, t, 0)
}

// letGo ends an acquire that got nothing. If a reply of its was lost, Redis may
// think otherwise: a re-entry's count is written anew, and a fresh acquire
// leaves a ghost behind, whose field is taken out again.
func (s *state) letGo(c *call) {
	c.phase = phaseOver
	if c.unsure == 0 {
		return
	}
	if t := s.tenure; t != nil && t.owner() == c.owner {
		s.recount(t)
	} else {
		s.haunt(c.owner, c.unsure)
	}
	c.unsure = 0
}

// take begins a tenure for c's owner after Redis acknowledged it; from is when
// the previous local owner unlocked, if it handed over.
func (s *state) take(c *call, sentAt, lease, now, from time.Duration) {
	t := newTenure(c)
	t.lease = lease
	t.live.Store(true)
	t.trust(sentAt, lease)
	// A message that came while the attempt flew may speak of a forced unlock.
	s.tenure, s.doubt, s.parked, s.again, s.pollAt = t, s.again, false, false, 0
	s.holder, s.deaf = "", 0
	if c.dropped || now >= t.expiry() {
		// Its caller has gone, or the reply took longer than the lease: a late
		// grant is never handed out (design S3). It goes to the next in line.
		if c.try && !c.dropped {
			s.fail(c, errTooSlow)
		} else {
			s.retry(c)
		}
		s.giveBack(t)
		return
	}
	s.hold(c, t, from)
	s.adopt(t)
}

// hold gives one level of the tenure to the acquire that asked for it.
func (s *state) hold(c *call, t *tenure, from time.Duration) {
	c.phase, c.tenure = phaseGranted, t
	t.levels.push(c)
	c.count = int32(t.levels.n)
	t.watched.Store(t.wantsWatchdog())
	s.emit(effect{kind: fxWatch, tenure: t})
	s.emit(effect{kind: fxGrant, call: c, tenure: t, at: from})
}

// adopt moves queued acquires of the new holder's own owner ahead: they re-enter.
func (s *state) adopt(t *tenure) {
	if s.sharedN == 0 || !s.rules.reentrant {
		return
	}
	for c := s.queue.head; c != nil; {
		next := c.next
		if c.owner == t.owner() {
			s.dequeue(c)
			c.reentry = true
			s.pushUrgent(c)
		}
		c = next
	}
}

// refused: somebody else has the name (or, for a re-entry, we no longer do).
func (s *state) refused(f *command, a *answer, now time.Duration) {
	c := f.call
	if f.tenure != nil {
		s.lose(f.tenure, lossGone)
		s.retry(c)
		return
	}
	if a.holder != "" {
		s.holder, s.holderEnd = a.holder, now+a.ttl
	}
	again := s.again
	s.again = false
	switch {
	case c.dropped:
		c.phase = phaseOver
	case c.try:
		held := &HeldError{TTL: a.ttl}
		held.Owner, _ = ParseOwner(a.holder)
		s.fail(c, held)
	default:
		s.enqueue(c, true)
		s.block(c, nil, a.holder)
		if !again {
			s.park(now, a.ttl)
		}
	}
}

// retry sends an acquire round once more, from the front, as a fresh one, if its
// caller still waits.
func (s *state) retry(c *call) {
	c.reentry = false
	if c.dropped {
		c.phase = phaseOver
		return
	}
	if c.try {
		c.phase = phaseUrgent
		s.urgent.pushFront(c)
		return
	}
	s.enqueue(c, true)
}
