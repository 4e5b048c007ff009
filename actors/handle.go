package actors

import (
	"fmt"
	"runtime/debug"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// handle turns a message into an event, lets the transition function decide, and
// carries out what it wants.
func (a *activation) handle(m *message) {
	c, st := a.cell, &a.cell.work.state
	switch {
	case m.kind == evInspect:
		m.about.after.(*inspection).ask(c)
		return
	case m.kind == evCall && m.about.hold != nil && !m.about.hold.arrive():
		return
	}
	d := a.desk
	ev := &d.ev
	*ev = event{kind: m.kind, now: c.sys.wheel.Now(), call: m.about}
	switch m.kind {
	case evReply:
		r := &a.op.Reply
		ev.reply = answer{outcome: r.Outcome, verdict: r.Verdict, ttl: r.TTL, holder: r.Owner, others: int(r.Listeners), err: r.Err}
		if !r.SentAt.IsZero() {
			ev.reply.sentAt = r.SentAt.Sub(c.sys.base)
		}
		a.op.Reply = rediscmd.Reply{} // it may name a holder
		ev.call = st.flight.call
		c.sys.inFlight.Add(-1)
		c.sys.admission.replied(ev.reply.outcome)
	case evExpired, evRefused:
		ev.call, ev.tenure = nil, m.about.tenure
	}
	st.out, d.out = d.out, nil
	st.step(ev)
	a.effects(ev.now)
	st.out, d.out = nil, st.out
}

// Completed implements rediscmd.Completer: the command in flight has its reply.
// It runs on a pipeline worker, which thereby runs the actor.
func (a *activation) Completed(*rediscmd.Op) { a.pool.table.postTo(a, &a.reply) }

// panicked fails the call that the panic met: the one whose effect was being
// carried out, else the one that the message was about. What had been decided is
// still carried out, so that the state and the world agree, however often that
// panics, too: each effect is off the list before it runs.
func (a *activation) panicked(m *message, about *call, v any, stack []byte) {
	a.cell.sys.complain("panic in a lock actor", a.cell.key.name, v, stack)
	if a.doing == nil {
		a.doing = about
		if about == nil && m.kind != evExpired && m.kind != evRefused {
			a.doing = m.about // it had not got as far as an event
		}
	}
	a.blame(v)
	for len(a.cell.work.state.out) > 0 {
		a.goOn()
	}
}

// goOn carries out what a panic has left.
func (a *activation) goOn() {
	defer func() {
		if v := recover(); v != nil {
			a.cell.sys.complain("panic while recovering from one", a.cell.key.name, v, debug.Stack())
			a.blame(v)
		}
	}()
	a.effects(a.cell.sys.wheel.Now())
}

// blame fails the call that a panic met. An acquire is also canceled, wherever it
// had got to.
func (a *activation) blame(v any) {
	s, c := a.cell.sys, a.doing
	a.doing = nil
	defer func() {
		if v := recover(); v != nil {
			s.complain("panic while recovering from one", a.cell.key.name, v, debug.Stack())
		}
	}()
	err := fmt.Errorf("holdfast: internal error: %v", v)
	switch {
	case c == nil:
	case c.kind != callAcquire:
		c.settle(false, err, s.wheel.Now())
	default:
		if c.hold.promise.Settle(nil, err) {
			s.table.postTo(a, &message{kind: evCancel, about: c})
		}
		c.hold.fail(err, nil)
	}
}

// complain logs an internal error. A logger that panics is not heard.
func (s *System) complain(what, name string, v any, stack []byte) {
	defer func() { _ = recover() }()
	s.log.Error("holdfast: "+what, "lock", name, "panic", v, "stack", string(stack))
}
