package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/telemetry"
)

// Why a hold ended, as telemetry and LostInfo name it.
const (
	endUnlocked  = telemetry.ReleaseUnlock
	endUnclaimed = telemetry.ReleaseUnclaimed
	endClosed    = telemetry.ReleaseClose
	endLost      = telemetry.ReleaseLost

	lossExpired = telemetry.LossExpired       // the local deadline passed without an acknowledged renewal
	lossGone    = telemetry.LossGone          // Redis no longer has the owner's field
	lossForced  = telemetry.LossForceUnlocked // this runtime was asked to
)

// lose ends a tenure that its owner did not give up. Loss is final: whatever
// Redis says later, no level of it becomes valid again (design S6).
func (s *state) lose(t *tenure, reason string) {
	if t == nil || !t.live.Swap(false) {
		return
	}
	if !t.leaving {
		s.unwatch(t)
	}
	for c := t.levels.pop(); c != nil; c = t.levels.pop() {
		c.phase = phaseOver
		s.emit(effect{kind: fxEnd, call: c, tenure: t, ending: endedLost, reason: reason})
	}
	if s.tenure == t {
		s.tenure = nil
	}
}

// expired: the lease timer says that the deadline is here. A renewal may have
// moved it in the meantime.
func (s *state) expired(t *tenure, now time.Duration) {
	if !t.live.Load() {
		return
	}
	if now < t.expiry() {
		if !t.leaving {
			s.emit(effect{kind: fxWatch, tenure: t})
		}
		return
	}
	// A renewal or extension whose reply was lost may have run, and would keep
	// the name from everybody for one more lease after its holder was told.
	if t.watched.Load() {
		t.reach = max(t.reach, t.expiry()+s.rules.watchdog)
	}
	if t.reach > t.expiry() {
		s.haunt(t.owner(), t.reach)
	}
	s.lose(t, lossExpired)
}

// answeredGhost: the release of an owner that nobody waits for. Gone is gone;
// not there may mean not there yet, so it is tried again until its lease would
// have run out.
func (s *state) answeredGhost(f *command, a *answer, now time.Duration) {
	for i := range s.ghosts {
		g := &s.ghosts[i]
		if g.owner != f.owner {
			continue
		}
		g.tries++
		gone := a.outcome == rediscmd.OutcomeDone && a.verdict == rediscmd.Released
		known := a.outcome == rediscmd.OutcomeDone || a.outcome == rediscmd.OutcomeFailed
		if gone || now >= g.until || s.closing && known {
			s.ghosts = append(s.ghosts[:i], s.ghosts[i+1:]...)
			return
		}
		const first, longest = 50 * time.Millisecond, 5 * time.Second
		g.next = now + min(first<<min(g.tries, 10), longest)
		return
	}
}

// close fails what waits and gives back what is held. The state drains from
// there by the ordinary rules: what flies is dropped, what unlocks unlocks. A
// second close means that the time for that is up.
func (s *state) close() {
	if s.closing {
		s.abort()
		return
	}
	s.closing = true
	for c := s.queue.head; c != nil; c = s.queue.head {
		s.dequeue(c)
		s.fail(c, ErrClosed)
	}
	for c := s.urgent.head; c != nil; {
		next := c.next
		if c.kind != callUnlock {
			s.urgent.remove(c)
			s.finish(c, false, ErrClosed)
		} else {
			s.abandon(c.target())
		}
		c = next
	}
	if c := s.flight.call; c != nil {
		s.abandon(c)
		s.abandon(c.target())
	}
	t := s.tenure
	if t == nil || !t.live.Load() {
		return
	}
	for c := t.levels.head; c != nil; c = c.next {
		s.emit(effect{kind: fxEnd, call: c, ending: endedClosed, reason: endClosed})
	}
	if !t.leaving {
		s.giveBack(t)
	}
}

// abort stops trying: what Redis still holds for this name ends with its lease.
func (s *state) abort() {
	for c := s.urgent.pop(); c != nil; c = s.urgent.pop() {
		s.finish(c, false, ErrClosed)
	}
	if s.tenure != nil {
		s.released(s.tenure)
	}
	s.ghosts = nil
}

// abandon answers an acquire whose command is under way; what the command does
// is undone when its reply comes.
func (s *state) abandon(c *call) {
	if c != nil && c.kind == callAcquire && !c.dropped {
		c.dropped = true
		s.emit(effect{kind: fxFail, call: c, err: ErrClosed})
	}
}
