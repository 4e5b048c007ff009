package actors

import (
	"runtime/debug"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// activation is the protoactor actor of a name while messages arrive for it or
// its command is in flight. In between the name rests in its cell, its waiters in
// their work, and the activation goes back to the pool, to be bound to another
// name: a lock that is only held, or only waited for, costs no actor, and a name
// used once costs no spawn.
//
// An activation is bound and unbound under its cell's shard lock only. While it
// is bound all its messages are for that cell; it is unbound by itself, inside a
// handler, when the number of messages posted equals the number handled, so that
// none can be on its way (actors-wheel.md section 4, pattern C).
type activation struct {
	mailbox
	pid     *actor.PID
	context actor.Context // protoactor's part of it, for Warm to look at
	pool    *activations
	due     bool // Schedule was called: the poster must drain, under the shard lock

	cell  *cell
	sent  uint64 // messages posted to the cell; guarded by its shard's mu
	seen  uint64
	spare *work // for the next cell that is at rest

	op    rediscmd.Op // the one command in flight
	reply message
	doing *call // whose effect is being carried out
	desk  *desk // while a message is handled
}

// desk is what one step needs and nothing keeps. Each handler borrows one that is
// still warm from the step before, of whatever name.
type desk struct {
	ev  event
	out []effect
}

var desks = sync.Pool{New: func() any { return &desk{out: make([]effect, 0, 8)} }}

// bind makes a the actor of c. With the shard lock held.
func (a *activation) bind(c *cell) {
	a.cell, c.act = c, a
	a.sent, a.seen = 0, 0
	if c.work != nil {
		return
	}
	if a.spare == nil {
		a.spare = newWork(c.sys)
	}
	a.spare.begin(c)
	a.spare = nil
}

// unbind is the end of that, and reports whether the name is forgotten. With the
// shard lock held. What only this goroutine can have in hand is kept for other
// names, so that a lock that nobody waits for costs no allocation here. A timer or
// a listener that was canceled may still call its work or its cell, and must not
// find another name there.
func (a *activation) unbind() (forgotten bool) {
	c, w := a.cell, a.cell.work
	a.cell, c.act = nil, nil
	st := &w.state
	if !st.quiet() || st.listening {
		return false
	}
	forgotten = st.idle()
	known := st.known
	w.end(c)
	if !known {
		a.spare = w // it may have one already: then that is garbage
	}
	if forgotten {
		c.shard.forget(c, known)
	}
	return forgotten
}

// Schedule implements actor.Dispatcher. It runs nothing: posting happens under a
// shard lock, and the poster drains after letting go of it.
func (a *activation) Schedule(func()) { a.due = true }

// Throughput implements actor.Dispatcher; our mailbox does not ask.
func (a *activation) Throughput() int { return 0 }

// RegisterHandlers implements actor.Mailbox: each activation is its own mailbox
// and its own dispatcher, so that all share one actor.Props.
func (a *activation) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	a.mailbox.RegisterHandlers(invoker, a)
	a.context = invoker.(actor.Context)
}

// Receive implements actor.Actor. A panic in a handler fails the one call that
// the message was about; the state stays, and so does the actor: a supervisor's
// restart would forget who holds what.
func (a *activation) Receive(ctx actor.Context) {
	m, ok := ctx.Message().(*message)
	if !ok {
		return // Started, Stopping, Stopped
	}
	a.seen++
	a.desk = desks.Get().(*desk)
	func() {
		defer func() {
			if v := recover(); v != nil {
				a.panicked(m, a.desk.ev.call, v, debug.Stack())
			}
		}()
		a.handle(m)
	}()
	a.desk.ev = event{}
	desks.Put(a.desk)
	a.desk = nil
	a.retire()
}

// retire passivates: the cell keeps its work, or its rest, or is forgotten if it
// has none.
func (a *activation) retire() {
	st, sh := &a.cell.work.state, a.cell.shard
	if st.flight.kind != askNone {
		return
	}
	sh.mu.Lock()
	if a.sent != a.seen {
		sh.mu.Unlock()
		return
	}
	forgotten := a.unbind()
	sh.mu.Unlock()
	a.pool.put(a)
	if forgotten {
		a.pool.table.forgotten()
	}
}
