package actors

import (
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/holdfast-go/holdfast/wheel"
)

// activations is the pool of idle actors. An actor weighs about 2 KB and a spawn
// costs 2 to 3 us, so the pool follows the load: what nobody needed between two
// looks goes, half of it at a time, and looks are taken as long as there is more
// than a little.
type activations struct {
	root  *actor.RootContext
	wheel *wheel.Wheel[timed]
	table *table
	props *actor.Props // of all of them; makes an actor out of next
	look  wheel.Entry[timed]

	mu      sync.Mutex
	next    *activation // the one that is being spawned
	idle    []*activation
	least   int // of idle, since the last look
	total   int
	looking bool
	closed  bool // what comes back is stopped
}

const (
	maxIdle   = 64 // these may stay
	lookEvery = 100 * time.Millisecond
)

func newActivations(root *actor.RootContext, w *wheel.Wheel[timed]) *activations {
	p := &activations{root: root, wheel: w}
	p.look.Value = p
	p.props = actor.PropsFromProducer(func() actor.Actor { return p.next },
		actor.WithMailbox(func() actor.Mailbox { return p.next }))
	return p
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
		p.least = min(p.least, n-1)
		return a
	}
	p.total++
	a := &activation{pool: p, reply: message{kind: evReply}}
	a.mailbox.init()
	p.next = a
	a.pid = p.root.Spawn(p.props)
	p.next = nil
	return a
}

// put takes back an actor that is not bound any more.
func (p *activations) put(a *activation) {
	p.mu.Lock()
	if p.closed {
		p.total--
		p.mu.Unlock()
		p.stop(a)
		return
	}
	p.idle = append(p.idle, a)
	start := len(p.idle) > maxIdle && !p.looking
	if start {
		p.looking, p.least = true, len(p.idle)
	}
	p.mu.Unlock()
	if start {
		p.lookAgain()
	}
}

// lookAgain has due called. A wheel that is closed looks no more: close stops all.
func (p *activations) lookAgain() { _ = p.wheel.Schedule(&p.look, p.wheel.Now()+lookEvery) }

// due implements timed: the look.
func (p *activations) due(time.Duration, *renewals) {
	p.mu.Lock()
	n := max(0, p.least-maxIdle+1) / 2
	spare := slices.Clone(p.idle[:n]) // the ones that were used longest ago
	p.idle = slices.Delete(p.idle, 0, n)
	p.total -= n
	p.least, p.looking = len(p.idle), len(p.idle) > maxIdle
	again := p.looking
	p.mu.Unlock()
	for _, a := range spare {
		p.stop(a)
	}
	if again {
		p.lookAgain()
	}
}

// stop ends an actor that is neither bound nor idle. The stop message is a system
// message: whoever drains the mailbox right now handles it, or else this call does.
func (p *activations) stop(a *activation) {
	a.due = false
	p.root.Stop(a.pid)
	if a.due {
		a.due = false
		a.drain()
	}
}

// close stops the idle actors, which are all when the table is empty, and later
// those that were still busy.
func (p *activations) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.least, p.closed = nil, 0, true
	p.total -= len(idle)
	p.mu.Unlock()
	for _, a := range idle {
		p.stop(a)
	}
}

// live counts the actors that exist, and those bound to a name.
func (p *activations) live() (total, bound int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total, p.total - len(p.idle)
}
