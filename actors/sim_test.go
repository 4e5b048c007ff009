package actors

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// sim runs the transition function of one name against a model of Redis and a
// model of time. It interprets effects as the actor would, and keeps the books
// that the properties are checked against. It has no goroutine and no clock.
type sim struct {
	s     *state
	now   time.Duration
	redis modelKey

	calls   []*call // in order of arrival
	seq     map[*call]int
	granted map[*call]bool // holds not yet ended
	settled map[*call]int  // how often each call was answered
	watched map[*tenure]bool
	left    map[*tenure]bool          // given up: its release was sent
	renewed map[*tenure]time.Duration // next renewal

	flight    *flying
	timer     time.Duration
	listening bool
	confirm   bool // a subscription waits for its confirmation
	owners    int64
	twice     map[Owner]bool           // owners that made more than one call
	tampered  map[string]time.Duration // local owners whose key an outsider deleted, and when
	fault     string                   // the first broken property
}

// modelKey is the lock's hash in Redis.
type modelKey struct {
	owner   string
	count   int
	expires time.Duration
}

// flying is the command in flight, with the time it left at.
type flying struct {
	cmd    command
	sentAt time.Duration
}

const (
	simWatchdog = 30 * time.Second
	simForeign  = "foreign"
	simTimeout  = 5 * time.Second // longer than the short leases, so that late grants occur
)

func newSim(seed uint64) *sim {
	return &sim{
		s: &state{seed: seed | 1, rules: &rules{
			watchdog: simWatchdog, poll: 10 * time.Second, maxWaiters: 50, reentrant: true, handOff: true,
			runLength: 3, runTime: time.Second, courtesy: time.Millisecond, standBack: 250 * time.Millisecond,
		}},
		now: time.Second, seq: map[*call]int{}, granted: map[*call]bool{}, settled: map[*call]int{},
		watched: map[*tenure]bool{}, left: map[*tenure]bool{}, renewed: map[*tenure]time.Duration{}, tampered: map[string]time.Duration{}, twice: map[Owner]bool{},
	}
}

func (m *sim) breaks(format string, args ...any) {
	if m.fault == "" {
		m.fault = fmt.Sprintf("at %v: ", m.now) + fmt.Sprintf(format, args...)
	}
}

// step feeds one event and interprets the effects.
func (m *sim) step(ev event) {
	ev.now = m.now
	m.s.step(&ev)
	for _, e := range m.s.out {
		m.effect(e)
	}
	m.s.out = m.s.out[:0]
	m.check()
	m.rest()
}

// rest does what happens to a quiet name: all but its rest is forgotten.
func (m *sim) rest() {
	if !m.s.quiet() {
		return
	}
	if m.listening || m.timer != 0 {
		m.breaks("a quiet name listens (%v) or has a timer (%v)", m.listening, m.timer)
	}
	m.s.resume(m.s.rules, m.s.rest)
}

func (m *sim) effect(e effect) {
	switch e.kind {
	case fxAsk:
		if m.flight != nil {
			m.breaks("two commands in flight")
		}
		ask := m.s.flight
		if ask.tenure != nil && (ask.kind == askHandOff || ask.kind == askRelease && ask.level == 0) {
			if m.watched[ask.tenure] {
				m.breaks("released while the watchdog was on")
			}
			m.left[ask.tenure] = true
		}
		m.flight = &flying{ask, m.now}
	case fxGrant:
		m.answer(e.call)
		m.granted[e.call] = true
		if m.now >= e.tenure.expiry() {
			m.breaks("a late grant was handed out")
		}
		if !m.twice[e.call.owner] && !e.call.try { // owners with several calls may have one that re-enters
			for c := m.s.queue.head; c != nil; c = c.next {
				if m.seq[c] < m.seq[e.call] && !m.twice[c.owner] {
					m.breaks("call %d was granted before call %d", m.seq[e.call], m.seq[c])
				}
			}
		}
	case fxFail, fxDrop, fxDone:
		m.answer(e.call)
	case fxEnd:
		delete(m.granted, e.call)
	case fxWatch:
		if m.left[e.tenure] {
			m.breaks("watched a tenure that was given up")
		}
		m.watched[e.tenure] = true
		m.renewed[e.tenure] = e.tenure.expiry() - simWatchdog*2/3
	case fxUnwatch:
		delete(m.watched, e.tenure)
	case fxSubscribe:
		m.listening, m.confirm = true, true
	case fxUnsubscribe:
		m.listening, m.confirm = false, false
	case fxTimer:
		m.timer = e.at
	}
}

func (m *sim) answer(c *call) {
	if m.settled[c]++; m.settled[c] > 1 {
		m.breaks("a call was answered %d times", m.settled[c])
	}
}

// key is the model's view with expiry applied.
func (m *sim) key() *modelKey {
	if m.redis.owner != "" && m.now >= m.redis.expires {
		m.redis = modelKey{}
	}
	return &m.redis
}

// run applies a command to the model, as the scripts do, and returns the answer.
func (m *sim) run(f *flying) answer {
	k, c := m.key(), f.cmd
	a := answer{outcome: rediscmd.OutcomeDone, sentAt: f.sentAt}
	mine := k.owner == c.owner.String() && k.owner != ""
	ttl := k.expires - m.now
	switch c.kind {
	case askAcquire:
		switch {
		case mine || c.level == 1 && k.owner == "":
			*k = modelKey{c.owner.String(), int(c.level), m.now + c.lease}
			delete(m.tampered, c.owner.String())
			a.verdict = rediscmd.Granted
		case k.owner == "":
			a.verdict = rediscmd.Absent
		default:
			a.verdict, a.ttl, a.holder = rediscmd.Held, ttl, k.owner
		}
	case askRelease:
		switch {
		case !mine:
			a.verdict = rediscmd.Absent
		case c.level > 0:
			k.count, k.expires = int(c.level), m.now+c.lease
			a.verdict = rediscmd.Lowered
		default:
			*k = modelKey{}
			a.verdict = rediscmd.Released
			defer m.publish()
		}
	case askHandOff:
		switch {
		case k.owner == c.to.String() && k.owner != "":
			if !c.keep {
				k.expires = m.now + c.lease
			}
			a.verdict = rediscmd.HandedOver
		case !mine:
			a.verdict = rediscmd.Absent
		case c.yield != rediscmd.YieldNever:
			*k = modelKey{}
			a.verdict, a.others = rediscmd.Yielded, 2
		default:
			if !c.keep {
				k.expires = m.now + c.lease
			}
			k.owner, k.count = c.to.String(), 1
			a.verdict = rediscmd.HandedOver
		}
	case askExtend:
		a.verdict = rediscmd.Absent
		if mine {
			k.expires = max(k.expires, m.now+c.lease)
			a.verdict = rediscmd.Renewed
		}
	case askForce:
		a.verdict = rediscmd.Absent
		if k.owner != "" {
			*k = modelKey{}
			a.verdict = rediscmd.Released
		}
	case askCheck:
		a.verdict = rediscmd.Absent
		if mine {
			a.verdict = rediscmd.Held
		}
	}
	return a
}

// publish is not delivered here: messages may be lost, and the test delivers
// wake-ups of its own at random.
func (m *sim) publish() {}

// reply answers the command in flight. Faults: its reply is lost after it ran,
// it never ran, or the server refuses for now or for good.
func (m *sim) reply(fault int) {
	f := m.flight
	m.flight = nil
	if fault == 0 && m.now-f.sentAt > simTimeout {
		fault = 1 // the pipeline had given up waiting
	}
	a := answer{sentAt: f.sentAt, err: fmt.Errorf("fault %d", fault)}
	switch fault {
	case 1: // ran, reply lost
		m.run(f)
		a.outcome = rediscmd.OutcomeUnknown
	case 2: // never ran, nobody knows
		a.outcome = rediscmd.OutcomeUnknown
	case 3:
		a.outcome = rediscmd.OutcomeRetryable
	case 4:
		a.outcome = rediscmd.OutcomeFailed
	default:
		a = m.run(f)
	}
	m.step(event{kind: evReply, reply: a})
}

// advance moves time, firing on the way what falls due: the state's own timer,
// and the lease timers, whose renewals succeed unless deaf.
func (m *sim) advance(d time.Duration, deaf bool) {
	end := m.now + d
	for m.fault == "" {
		next, fire := end, func() {}
		if m.timer != 0 && m.timer <= next {
			next, fire = max(m.timer, m.now), func() {
				m.timer = 0
				m.step(event{kind: evTimer})
			}
		}
		for t := range m.watched {
			at := t.expiry()
			if t.watched.Load() && !deaf {
				at = min(at, m.renewed[t])
			}
			if at <= next {
				next, fire = max(at, m.now), func() { m.lease(t, deaf) }
			}
		}
		m.now = next
		fire()
		if next >= end && (m.timer == 0 || m.timer > end) {
			return
		}
	}
}

// lease is what the watchdog does when a lease timer fires.
func (m *sim) lease(t *tenure, deaf bool) {
	if m.now >= t.expiry() {
		delete(m.watched, t) // fxWatch puts it back if it is premature
		m.step(event{kind: evExpired, tenure: t})
		return
	}
	if !t.watched.Load() || deaf {
		return
	}
	if k := m.key(); k.owner == t.owner().String() {
		k.expires = max(k.expires, m.now+simWatchdog)
		t.trust(m.now, simWatchdog)
		m.renewed[t] = t.expiry() - simWatchdog*2/3
		return
	}
	m.step(event{kind: evRefused, tenure: t})
}

// check holds the properties that are true between any two events.
func (m *sim) check() {
	var owner string
	for c := range m.granted {
		t := c.tenure
		if owner != "" && owner != t.owner().String() {
			m.breaks("two local owners hold the name: %s and %s", owner, t.owner().String())
		}
		owner = t.owner().String()
		if !t.live.Load() {
			m.breaks("a hold of an ended tenure was not ended")
		}
		if m.now > t.expiry() {
			m.breaks("%s was not told that its lease was over at %v", owner, t.expiry())
		}
		if m.now < t.expiry() && m.key().owner != owner {
			if _, ok := m.tampered[owner]; !ok {
				m.breaks("%s is valid for another %v, but Redis has %q", owner, t.expiry()-m.now, m.key().owner)
			}
		}
	}
	for t := range m.watched {
		if !t.live.Load() {
			m.breaks("the watchdog is on for a tenure that is over")
		}
	}
	if n := m.s.sharedN; n < 0 {
		m.breaks("sharedN is %d", n)
	}
}
