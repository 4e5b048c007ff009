package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// giveUp starts an unlock: one level less, or the whole name to the next local
// waiter in one round trip, or back to Redis.
func (s *state) giveUp(u *call, now time.Duration) {
	t := u.tenure
	if !t.live.Load() {
		s.finish(u, false, errGone)
		return
	}
	u.phase = phaseFlying
	left := t.levels.n
	if u.of != nil && t.has(u.of) {
		left--
	}
	if u.all {
		left = 0
	}
	if left > 0 {
		s.lower(u, t, left, now)
		return
	}
	// From here on nothing renews: the lease only has to last until the script
	// has run.
	if !t.leaving {
		t.leaving = true
		s.unwatch(t)
	}
	if u.to == nil && s.rules.handOff && !u.plain && !s.closing {
		if u.to = s.queue.head; u.to != nil {
			s.dequeue(u.to)
			u.to.phase = phaseFlying
			u.to.attempts++
		}
	}
	if to := u.to; to != nil {
		s.ask(command{
			kind: askHandOff, call: u, tenure: t, owner: t.owner(), to: to.owner,
			lease: to.lease, keep: s.suffices(t, to, now), yield: s.turn(now),
		})
		return
	}
	s.ask(command{kind: askRelease, call: u, tenure: t, owner: t.owner()})
}

// suffices reports that what is left of t's lease will do for the next owner: if it
// is to be renewed, and no less is left than a renewal would find. That saves the
// server a command. Nor may it be more than a watched owner's lease: a process that
// dies is waited for that long. And it must be known: a command whose reply was lost
// may have set another TTL.
func (s *state) suffices(t *tenure, to *call, now time.Duration) bool {
	if !to.watchdog || t.unsure || to.unsure != 0 || t.reach > t.expiry()+margin(t.lease) {
		return false
	}
	left := t.expiry() + margin(to.lease) - now
	return left <= to.lease && left >= to.lease-to.lease/3
}

// lower sets the count that is left. If the level that goes was the last one
// without an explicit lease, renewing stops first.
func (s *state) lower(u *call, t *tenure, left int, now time.Duration) {
	var lease time.Duration
	watchdog := false
	for c := t.levels.head; c != nil; c = c.next {
		if c != u.of {
			lease, watchdog = max(lease, c.lease), watchdog || c.watchdog
		}
	}
	// While it still counts as watched: until the effect has told the watchdog, the
	// reply to a renewal may move the deadline.
	lease = t.leaseFor(lease, now, s.rules)
	if t.watched.Load() && !watchdog {
		t.watched.Store(false)
		s.emit(effect{kind: fxWatch, tenure: t}) // from now on for the deadline only
	}
	s.ask(command{kind: askRelease, call: u, tenure: t, owner: t.owner(), level: int32(left), lease: lease})
}

// turn decides whether other processes get theirs now. A run of local hand-offs
// ends after a number or a time, whichever is first.
func (s *state) turn(now time.Duration) rediscmd.YieldMode {
	switch {
	case s.handed < s.rules.runLength && now-s.since < s.rules.runTime:
		return rediscmd.YieldNever
	case s.rules.alwaysGive:
		return rediscmd.YieldAlways
	default:
		return rediscmd.YieldIfOthersListen
	}
}

func (s *state) answeredRelease(f *command, a *answer, now time.Duration) {
	u, t := f.call, f.tenure
	switch {
	case a.outcome == rediscmd.OutcomeDone && a.verdict == rediscmd.Lowered:
		s.drop(t, u)
		if t.live.Load() {
			t.lease = f.lease
			t.trust(a.sentAt, f.lease)
			s.emit(effect{kind: fxWatch, tenure: t})
		}
		s.finish(u, true, nil)
	case a.outcome == rediscmd.OutcomeDone && (a.verdict == rediscmd.Released || t.unsure):
		// Absent after a reply was lost: that one had run. The owner's number
		// is its own, so nobody else can have taken the field out.
		s.released(t)
		s.finish(u, true, nil)
	case a.outcome == rediscmd.OutcomeDone:
		s.drop(t, u)
		s.lose(t, lossGone)
		s.finish(u, false, errGone)
	default:
		s.unreleased(f, a, now)
	}
}

// unreleased: no verdict on an unlock. It is sent again while the lease lasts;
// the script sets or deletes, so twice is as good as once.
func (s *state) unreleased(f *command, a *answer, now time.Duration) {
	u, t := f.call, f.tenure
	if a.outcome == rediscmd.OutcomeUnknown && f.level == 0 {
		t.unsure = true
	}
	if !t.live.Load() {
		s.finish(u, false, errGone)
		return
	}
	if a.outcome != rediscmd.OutcomeFailed && now < t.expiry() {
		u.phase = phaseUrgent
		s.urgent.pushFront(u)
		return
	}
	if f.level > 0 {
		if u.of != nil { // else it was a recount, which is not tried for ever
			s.drop(t, u)
			s.recount(t)
		}
	} else {
		s.haunt(t.owner(), now+t.lease)
		s.released(t)
	}
	s.finish(u, false, failed("unlock", a))
}

func (s *state) answeredHandOff(f *command, a *answer, now time.Duration) {
	u, t, to := f.call, f.tenure, f.call.to
	again := s.again // a message came meanwhile: the new owner will look
	s.again = false
	if a.outcome == rediscmd.OutcomeDone {
		u.to = nil
		switch a.verdict {
		case rediscmd.HandedOver:
			s.released(t)
			s.finish(u, true, nil)
			s.handed++
			if f.yield != rediscmd.YieldNever { // nobody else listens: that goes for another run
				s.handed, s.since = 0, now
			}
			s.again = again
			since := a.sentAt
			if f.keep { // then the lease ends when it would have ended
				since = t.expiry() + margin(f.lease) - f.lease
			}
			s.take(to, since, f.lease, now, u.at)
		case rediscmd.Yielded:
			s.released(t)
			s.finish(u, true, nil)
			s.back(to)
			s.giveWay(now, a.others)
		default:
			s.back(to)
			if t.unsure {
				s.released(t)
				s.finish(u, true, nil)
				return
			}
			s.drop(t, u)
			s.lose(t, lossGone)
			s.finish(u, false, errGone)
		}
		return
	}
	switch {
	case a.outcome == rediscmd.OutcomeFailed && !t.unsure:
		// The server will not write the new owner (out of memory, say), but it
		// may still delete: unlock without a hand-off.
		s.back(to)
		u.to, u.plain, u.phase = nil, true, phaseUrgent
		s.urgent.pushFront(u)
	case a.outcome != rediscmd.OutcomeFailed && t.live.Load() && now < t.expiry():
		t.unsure = t.unsure || a.outcome == rediscmd.OutcomeUnknown
		s.again = again
		u.phase = phaseUrgent
		s.urgent.pushFront(u)
	default:
		// The lease is over and nobody knows who has the name: the next owner's
		// own acquire will settle that.
		u.to = nil
		if t.unsure || a.outcome == rediscmd.OutcomeUnknown {
			to.unsure = max(to.unsure, now+f.lease)
		}
		s.haunt(t.owner(), now+t.lease)
		s.released(t)
		s.back(to)
		s.finish(u, false, failed("unlock", a))
	}
}

// giveWay stands back after a run of local hand-offs: as long as the others that
// listen would need for a run like ours each, so that every process gets a like
// share, also one that is slow to ask (Redisson wakes a thread first). After a
// moment of courtesy we look whether anybody took the lock at all; listeners may
// linger, and a lock that nobody wants must not lie idle.
func (s *state) giveWay(now time.Duration, others int) {
	if s.queue.n == 0 {
		return
	}
	run := (now - s.since) * time.Duration(max(others, 1))
	s.deaf = now + min(max(run, s.rules.courtesy), s.rules.standBack)
	s.parked, s.pollWhy = true, wokeByPoll
	s.pollAt = now + s.rules.courtesy + s.jitter(s.rules.courtesy/4)
}

// back returns a hand-off's target to the head of the queue, or lets it go if
// its caller has left.
func (s *state) back(to *call) {
	if to.dropped {
		s.letGo(to)
	} else {
		s.enqueue(to, true)
	}
}

// drop takes the unlocked level out of its tenure.
func (s *state) drop(t *tenure, u *call) {
	if u.of == nil {
		return
	}
	if t.has(u.of) {
		t.levels.remove(u.of)
	}
	u.of.phase = phaseOver
}

// released ends a tenure that was given up, not lost.
func (s *state) released(t *tenure) {
	for c := t.levels.pop(); c != nil; c = t.levels.pop() {
		c.phase = phaseOver
		s.emit(effect{kind: fxEnd, call: c, ending: endedReleased, reason: endUnlocked})
	}
	if t.live.Swap(false) && !t.leaving {
		s.unwatch(t)
	}
	if s.tenure == t {
		s.tenure = nil
	}
}

// giveBack releases a tenure that nobody holds a level of.
func (s *state) giveBack(t *tenure) {
	u := &call{kind: callUnlock, tenure: t, duty: &duty{all: true}, phase: phaseUrgent}
	s.urgent.pushFront(u)
}

// recount writes the count that we know to be right over one that a lost or
// unwanted re-entry may have raised.
func (s *state) recount(t *tenure) {
	if t.levels.n == 0 || t.leaving || !t.live.Load() {
		return
	}
	u := &call{kind: callUnlock, tenure: t, duty: new(duty), phase: phaseUrgent}
	s.urgent.pushFront(u)
}

func (s *state) unwatch(t *tenure) { s.emit(effect{kind: fxUnwatch, tenure: t}) }
