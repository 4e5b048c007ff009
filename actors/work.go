package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/wheel"
)

// work is what a name needs while something goes on: the state that the
// transition function works on, its timer and its subscription. An activation
// brings one along and takes it back when the name comes to rest; a name whose
// waiters are parked keeps it, and lets the activation go.
type work struct {
	state state
	timer wheel.Entry[timed]
	sub   *rediscmd.Subscription
	cell  *cell // whose it is, or was last; timers that come late may look
}

// timed is what can be on the wheel: a name's timer, a hold's.
type timed interface {
	due(now time.Duration, batch *renewals)
}

func newWork(s *System) *work {
	w := &work{}
	w.timer.Value = w
	w.state.seed = s.seed.Add(0x9e3779b97f4a7c15) | 1
	return w
}

// begin makes w the work of c, which is at rest.
func (w *work) begin(c *cell) {
	w.state.resume(c.sys.rulesOf(c.key.kind), c.rest)
	w.cell, c.work = c, w
}

// end brings c to rest. Its state is quiet, so there is no timer and no
// subscription.
func (w *work) end(c *cell) {
	c.rest, c.work = w.state.rest, nil
}

// due implements timed: the state asked to be woken.
func (w *work) due(time.Duration, *renewals) {
	w.cell.sys.table.post(w.cell.key, &message{kind: evTimer})
}
