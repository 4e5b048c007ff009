package actors

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/wheel"
)

// cell is where a name lives: its state, the one command in flight, its timer
// and its subscription. It is in the table as long as there is anything to
// remember. Only the activation that is bound to it touches what is below the
// line; the shard lock orders one activation after another.
type cell struct {
	key     key
	sys     *System
	shard   *shard
	act     *activation // guarded by shard.mu
	sent    uint64      // messages posted; guarded by shard.mu
	trouble atomic.Pointer[error]

	// ---- the bound activation's ----
	seen  uint64
	state state
	op    rediscmd.Op
	reply message
	timer wheel.Entry[timed]
	sub   *rediscmd.Subscription
	doing *call // whose effect is being carried out
}

// timed is what can be on the wheel: a cell's timer, a hold's.
type timed interface {
	due(now time.Duration, batch *renewals)
}

func (s *System) newCell(k key, sh *shard) *cell {
	c := &cell{key: k, sys: s, shard: sh}
	c.timer.Value = c
	c.reply.kind = evReply
	c.state.rules = &s.rules
	if !k.kind.HandOff || !k.kind.Reentrant {
		r := s.rules
		r.handOff, r.reentrant = k.kind.HandOff, k.kind.Reentrant
		c.state.rules = &r
	}
	c.state.seed = s.seed.Add(0x9e3779b97f4a7c15) | 1
	return c
}

// due implements timed: the state asked to be woken.
func (c *cell) due(time.Duration, *renewals) {
	c.sys.table.post(c.key, &message{kind: evTimer})
}

// Completed implements rediscmd.Completer: the command in flight has its reply.
// It runs on a pipeline worker, which thereby runs the actor.
func (c *cell) Completed(*rediscmd.Op) { c.sys.table.postTo(c, &c.reply) }

// Subscribed and Message implement rediscmd.Listener.
func (c *cell) Subscribed() { c.sys.table.post(c.key, &message{kind: evSubscribed}) }

// Message is a wake-up, whatever its payload: Redisson's write locks publish 1
// where others publish 0, and both mean "look again".
func (c *cell) Message(string) { c.sys.table.post(c.key, &message{kind: evWake}) }

// receive turns a message into an event, lets the transition function decide,
// and carries out what it wants.
func (c *cell) receive(m *message, with *scratch) {
	if m.kind == evInspect {
		m.look.ask(c)
		return
	}
	if m.kind == evCall && m.about.hold != nil && !m.about.hold.arrive() {
		return
	}
	ev := &with.ev
	*ev = event{kind: m.kind, now: c.sys.wheel.Now(), call: m.about, tenure: m.tenure}
	if m.kind == evReply {
		r := &c.op.Reply
		ev.reply = answer{outcome: r.Outcome, verdict: r.Verdict, ttl: r.TTL, holder: r.Owner, others: int(r.Listeners), err: r.Err}
		if !r.SentAt.IsZero() {
			ev.reply.sentAt = r.SentAt.Sub(c.sys.base)
		}
		ev.call = c.state.flight.call
		c.sys.inFlight.Add(-1)
	}
	c.state.out, with.out = with.out, nil
	c.state.step(ev)
	c.effects(ev.now)
	c.state.out, with.out = nil, c.state.out
}

// panicked fails the call that the panic met: the one whose effect was being
// carried out, else the one that the message was about. What had been decided is
// still carried out, so that the state and the world agree; an acquire that was
// failed here is canceled, wherever it had got to.
func (c *cell) panicked(m *message, about *call, v any, stack []byte) {
	defer func() {
		if v := recover(); v != nil {
			c.sys.complain("panic while recovering from one", c.key.name, v, debug.Stack())
		}
	}()
	c.sys.complain("panic in a lock actor", c.key.name, v, stack)
	err := fmt.Errorf("holdfast: internal error: %v", v)
	if c.doing != nil {
		about = c.doing
	} else if about == nil {
		about = m.about // it had not got as far as an event
	}
	c.doing = nil
	switch {
	case m.kind == evInspect:
		m.look.promise.Settle(State{}, err)
	case about == nil:
	case about.kind != callAcquire:
		if about.after != nil {
			about.after.settle(false, err)
		}
	case about.hold.fail(err, nil):
		c.sys.table.postTo(c, &message{kind: evCancel, about: about})
	}
	c.effects(c.sys.wheel.Now())
}

// complain logs an internal error. A logger that panics is not heard.
func (s *System) complain(what, name string, v any, stack []byte) {
	defer func() { _ = recover() }()
	s.log.Error("holdfast: "+what, "lock", name, "panic", v, "stack", string(stack))
}
