package actors

import (
	"runtime/debug"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// activation is the protoactor actor of a name while the name is busy. Between
// bursts the name's state rests in its cell and the activation goes back to the
// pool, to be bound to another name: a held but quiet lock costs no actor, and
// a name used once costs no spawn.
//
// An activation is bound and unbound under its cell's shard lock only. While it
// is bound all its messages are for that cell; it is unbound by itself, inside a
// handler, when the number of messages posted equals the number handled, so that
// none can be on its way (actors-wheel.md section 4, pattern C).
type activation struct {
	pid  *actor.PID
	box  *mailbox
	cell *cell
	due  bool // Schedule was called: the poster must drain, under the shard lock
	pool *activations
	with scratch
}

// Schedule implements actor.Dispatcher. It runs nothing: posting happens under a
// shard lock, and the poster drains after letting go of it.
func (a *activation) Schedule(func()) { a.due = true }

// Throughput implements actor.Dispatcher; our mailbox does not ask.
func (a *activation) Throughput() int { return 0 }

// Receive implements actor.Actor. A panic in a handler fails the one call that
// the message was about; the state stays, and so does the actor: a supervisor's
// restart would forget who holds what.
func (a *activation) Receive(ctx actor.Context) {
	m, ok := ctx.Message().(*message)
	if !ok {
		return // Started, Stopping, Stopped
	}
	c := a.cell
	c.seen++
	func() {
		defer func() {
			if v := recover(); v != nil {
				c.panicked(m, a.with.ev.call, v, debug.Stack())
			}
		}()
		c.receive(m, &a.with)
	}()
	a.with.ev = event{}
	a.retire()
}

// retire passivates: the cell keeps its state, or is forgotten if it has none.
func (a *activation) retire() {
	c := a.cell
	if !c.state.quiet() {
		return
	}
	sh := c.shard
	sh.mu.Lock()
	if c.sent != c.seen {
		sh.mu.Unlock()
		return
	}
	c.act, a.cell = nil, nil
	forget := c.state.idle()
	if forget {
		delete(sh.cells, c.key)
	}
	sh.mu.Unlock()
	a.pool.put(a)
	if forget {
		c.sys.table.forgotten()
	}
}

// activations is the pool of idle actors.
type activations struct {
	root  *actor.RootContext
	props func(*activation) *actor.Props

	mu     sync.Mutex
	idle   []*activation
	total  int
	closed bool // what comes back is stopped
}

// maxIdle bounds the pool: about 0.5 KB each.
const maxIdle = 1024

func newActivations(root *actor.RootContext) *activations {
	return &activations{root: root, props: func(a *activation) *actor.Props {
		return actor.PropsFromProducer(func() actor.Actor { return a },
			actor.WithMailbox(func() actor.Mailbox { return a.box }),
			actor.WithDispatcher(a))
	}}
}

// get returns an idle actor or spawns one. The PID is handed to nobody before
// Spawn has returned (SpawnNamed's race, actors-wheel.md section 3, row 2).
func (p *activations) get() *activation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		a := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		return a
	}
	p.total++
	a := &activation{box: newMailbox(), pool: p}
	a.pid = p.root.Spawn(p.props(a))
	return a
}

func (p *activations) put(a *activation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && len(p.idle) < maxIdle {
		p.idle = append(p.idle, a)
		return
	}
	p.stop(a)
}

// stop ends an unbound actor. The stop message is a system message: whoever
// drains the mailbox right now handles it, or else this call does.
func (p *activations) stop(a *activation) {
	p.total--
	a.due = false
	p.root.Stop(a.pid)
	if a.due {
		a.due = false
		a.box.drain()
	}
}

// close stops the idle actors, which are all when the table is empty, and later
// those that were still busy.
func (p *activations) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, a := range p.idle {
		p.stop(a)
	}
	p.idle = nil
}

// live counts the actors that exist, and those bound to a name.
func (p *activations) live() (total, bound int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total, p.total - len(p.idle)
}
