package actors

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/telemetry"
)

// effects carries out what the transition function decided, in its order. Each
// effect is taken off the list before it runs, so one that panics is not run
// twice. Nothing here decides anything, and nothing here blocks.
func (c *cell) effects(now time.Duration) {
	st := &c.state
	for i := 0; i < len(st.out); i++ {
		e := st.out[i]
		st.out[i] = effect{}
		c.doing = e.call
		c.effect(&e, now)
	}
	c.doing = nil
	st.out = st.out[:0]
}

// scratch is what one step needs and nothing keeps: an activation lends it to the
// cell that it is bound to.
type scratch struct {
	ev  event
	out []effect
}

func (c *cell) effect(e *effect, now time.Duration) {
	s := c.sys
	switch e.kind {
	case fxAsk:
		c.send(&c.state.flight)
	case fxGrant:
		if e.at != 0 {
			s.tel.HandedOff(telemetry.ScopeLocal, now-e.at)
		}
		e.call.hold.grant(e.tenure, now)
	case fxDrop:
		e.call.hold.dropped()
	case fxFail:
		e.call.hold.fail(e.err, c.lastTrouble())
	case fxDone:
		if e.call.after != nil {
			e.call.after.settle(e.did, e.err)
		}
	case fxEnd:
		if h := e.call.hold; h != nil {
			h.end(e.err, e.reason, now)
		}
	case fxWatch:
		s.watch(e.tenure, now)
	case fxUnwatch:
		s.unwatch(e.tenure)
	case fxBlocked:
		e.call.hold.blockedBy(e.tenure, e.holder)
	case fxWoke:
		s.tel.Wakeup(e.reason, e.did)
	case fxTrouble:
		if e.err == nil {
			c.trouble.Store(nil)
		} else {
			err := e.err // a copy: taking e's address would put every effect on the heap
			c.trouble.Store(&err)
		}
	case fxSubscribe:
		c.sub = s.redis.Subscriber().Subscribe(c.key.kind.Door.Channel(c.key.name), c)
	case fxUnsubscribe:
		c.sub.Close()
		c.sub = nil
	case fxTimer:
		if e.at == 0 {
			s.wheel.Cancel(&c.timer)
		} else {
			_ = s.wheel.ScheduleExact(&c.timer, e.at) // closed: Close is under way and needs no timer
		}
	}
}

// send turns a command into its script.
func (c *cell) send(cmd *command) {
	door, name := c.key.kind.Door, c.key.name
	c.sys.inFlight.Add(1)
	defer c.unsent()
	switch cmd.kind {
	case askAcquire:
		door.Acquire(&c.op, c, rediscmd.AcquireArgs{
			Name: name, Owner: cmd.owner.field, Lease: cmd.lease, Level: int64(cmd.level), WantHolder: cmd.record,
		})
	case askRelease:
		door.Release(&c.op, c, rediscmd.ReleaseArgs{
			Name: name, Owner: cmd.owner.field, Level: int64(cmd.level), Lease: cmd.lease,
		})
	case askHandOff:
		door.HandOff(&c.op, c, rediscmd.HandOffArgs{
			Name: name, From: cmd.owner.field, To: cmd.to.field, Lease: cmd.lease, Yield: cmd.yield,
		})
	case askExtend:
		door.Extend(&c.op, c, rediscmd.ExtendArgs{Name: name, Owner: cmd.owner.field, Lease: cmd.lease})
	case askForce:
		door.Force(&c.op, c, name)
	case askCheck:
		door.Check(&c.op, c, name, cmd.owner.field)
	}
}

// unsent answers a command that panicked on its way out: without a reply its
// name would wait for ever.
func (c *cell) unsent() {
	if v := recover(); v != nil {
		c.sys.complain("panic while sending", c.key.name, v, debug.Stack())
		c.op.Reply = rediscmd.Reply{
			Outcome: rediscmd.OutcomeUnknown,
			Err:     fmt.Errorf("holdfast: internal error: %v", v),
			SentAt:  time.Now(),
		}
		c.Completed(nil)
	}
}

func (c *cell) lastTrouble() error {
	if p := c.trouble.Load(); p != nil {
		return *p
	}
	return nil
}
