package actors

import (
	"testing"
	"time"
	"unique"

	"pgregory.net/rapid"
)

// TestTransitionSchedules drives the transition function through random
// schedules of calls, faults, outsiders and time, checks the safety properties
// after every event (design S1, S3 to S6), and at the end closes the name and
// checks that every call was answered exactly once and that Redis is left clean.
//
// `make test` runs 100 000 schedules (-rapid.checks).
func TestTransitionSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newSim(rapid.Uint64().Draw(t, "seed"))
		do := func(name string, f func()) func(*rapid.T) {
			return func(t *rapid.T) {
				f()
				if m.fault != "" {
					t.Fatalf("%s: %s", name, m.fault)
				}
			}
		}
		pick := func(from []*call) *call {
			if len(from) == 0 {
				return nil
			}
			return from[rapid.IntRange(0, len(from)-1).Draw(t, "which")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": do("acquire", func() { m.acquire(m.fresh(), rapid.IntRange(0, 5).Draw(t, "how")) }),
			"again": do("again", func() {
				if c := pick(m.calls); c != nil {
					m.twice[c.owner] = true
					m.acquire(c.owner, rapid.IntRange(0, 5).Draw(t, "how"))
				}
			}),
			"unlock": do("unlock", func() {
				if c := pick(m.holds()); c != nil {
					m.unlock(c)
				}
			}),
			"cancel": do("cancel", func() {
				if c := pick(m.calls); c != nil {
					m.cancel(c)
				}
			}),
			"waitOver": do("waitOver", func() {
				if c := pick(m.calls); c != nil {
					m.step(event{kind: evWaitOver, call: c})
				}
			}),
			"extend": do("extend", func() {
				if c := pick(m.holds()); c != nil {
					m.step(event{kind: evCall, call: &call{kind: callExtend, tenure: c.tenure, lease: time.Minute}})
				}
			}),
			"force": do("force", func() { m.step(event{kind: evCall, call: &call{kind: callForce}}) }),
			"reply": do("reply", func() {
				if m.flight != nil {
					m.reply(0)
				}
			}),
			"reply with a fault": do("fault", func() {
				if m.flight != nil {
					m.reply(rapid.IntRange(1, 4).Draw(t, "fault"))
				}
			}),
			"outsider takes it": do("outsider", func() {
				if k := m.key(); k.owner == "" {
					*k = modelKey{simForeign, 1, m.now + 5*time.Second}
				}
			}),
			"outsider unlocks": do("outsider", func() {
				if k := m.key(); k.owner == simForeign {
					*k = modelKey{}
				}
			}),
			"outsider deletes": do("outsider", func() {
				if k := m.key(); k.owner != "" {
					m.tampered[k.owner] = m.now
					*k = modelKey{}
				}
			}),
			"message": do("message", func() {
				if m.listening && !m.confirm {
					m.step(event{kind: evWake})
				}
			}),
			"confirmed": do("confirmed", func() {
				if m.listening {
					m.confirm = false
					m.step(event{kind: evSubscribed})
				}
			}),
			"time":          do("time", func() { m.advance(time.Duration(rapid.IntRange(1, 12000).Draw(t, "ms"))*time.Millisecond, false) }),
			"little time":   do("time", func() { m.advance(time.Duration(rapid.IntRange(1, 20).Draw(t, "ms"))*time.Millisecond, false) }),
			"deaf for long": do("deaf", func() { m.advance(20*time.Second, true) }),
		})
		m.finish()
		if m.fault != "" {
			t.Fatal(m.fault)
		}
	})
}

var simRuntime = unique.Make("local")

func (m *sim) fresh() Owner {
	m.owners++
	return Owner{simRuntime, m.owners}
}

// acquire makes a call; how chooses between trying and waiting, and the lease.
func (m *sim) acquire(o Owner, how int) {
	c := &call{kind: callAcquire, owner: o, shared: true, lease: simWatchdog, watchdog: true}
	if how&1 != 0 {
		c.lease, c.watchdog = 2*time.Second, false
	}
	c.try = how >= 4
	m.seq[c] = len(m.calls)
	m.calls = append(m.calls, c)
	m.step(event{kind: evCall, call: c})
}

func (m *sim) holds() []*call {
	var hs []*call
	for _, c := range m.calls {
		if m.granted[c] {
			hs = append(hs, c)
		}
	}
	return hs
}

// unlock ends the hold as its owner does, then posts the unlock.
func (m *sim) unlock(c *call) {
	delete(m.granted, c)
	u := &call{kind: callUnlock, tenure: c.tenure, duty: &duty{of: c}}
	m.seq[u] = -1
	m.step(event{kind: evCall, call: u})
}

// cancel is what a future's Cancel posts: for a grant only while it is unclaimed,
// which here means: while it was not unlocked.
func (m *sim) cancel(c *call) {
	if c.phase == phaseGranted && !m.granted[c] {
		return
	}
	m.step(event{kind: evCancel, call: c})
}

// finish closes the name with Redis in order, lets everything drain, and checks
// that nothing is left: no call unanswered, no key of a local owner.
func (m *sim) finish() {
	m.step(event{kind: evClose})
	for i := 0; i < 2000 && m.fault == "" && !(m.s.idle() && m.flight == nil); i++ {
		if m.flight != nil {
			m.reply(0)
			continue
		}
		m.advance(100*time.Millisecond, false)
	}
	if m.fault != "" {
		return
	}
	if !m.s.idle() {
		m.breaks("did not drain: %+v", m.s)
	}
	for _, c := range m.calls {
		if m.settled[c] != 1 {
			m.breaks("call %d was answered %d times (phase %d)", m.seq[c], m.settled[c], c.phase)
		}
	}
	if len(m.granted) > 0 || len(m.watched) > 0 {
		m.breaks("%d holds and %d watches are left", len(m.granted), len(m.watched))
	}
	// A lease counts from before its command left on our side, and from when it
	// ran on Redis': it ends there a round trip and a margin later.
	m.now += simTimeout + margin(simWatchdog)
	if k := m.key(); k.owner != "" && k.owner != simForeign {
		m.breaks("Redis still has %+v", *k)
	}
}
