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
func (a *activation) effects(now time.Duration) {
	st := &a.cell.work.state
	for i := 0; i < len(st.out); i++ {
		e := st.out[i]
		st.out[i] = effect{}
		a.doing = e.call
		a.effect(&e, now)
	}
	a.doing = nil
	st.out = st.out[:0]
}

func (a *activation) effect(e *effect, now time.Duration) {
	c, w, s := a.cell, a.cell.work, a.cell.sys
	switch e.kind {
	case fxAsk:
		a.send(&w.state.flight)
	case fxGrant:
		if e.tenure.first == e.call {
			e.tenure.cell = c
		}
		if e.at != 0 {
			s.tel.HandedOff(telemetry.ScopeLocal, now-e.at)
		}
		e.call.hold.grant(e.tenure, now)
	case fxDrop:
		e.call.hold.dropped()
	case fxFail:
		trouble := c.lastTrouble()
		if e.call.late {
			trouble = s.admission.lastTrouble()
		}
		e.call.hold.fail(e.err, trouble)
	case fxDone:
		e.call.settle(e.did, e.err, now)
	case fxEnd:
		if h := e.call.hold; h != nil {
			h.end(e.ending, e.reason, now)
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
			s.admission.trouble.Store(&err)
		}
	case fxSubscribe:
		w.sub = s.redis.Subscriber().Subscribe(c.key.kind.Door.Channel(c.key.name), c)
	case fxUnsubscribe:
		w.sub.Close()
		w.sub = nil
	case fxTimer:
		if e.at == 0 {
			s.wheel.Cancel(&w.timer)
		} else {
			_ = s.wheel.ScheduleExact(&w.timer, e.at) // closed: Close is under way and needs no timer
		}
	}
}

// send turns a command into its script.
func (a *activation) send(cmd *command) {
	c := a.cell
	door, name := c.key.kind.Door, c.key.name
	c.sys.inFlight.Add(1)
	defer a.unsent()
	switch cmd.kind {
	case askAcquire:
		door.Acquire(&a.op, a, rediscmd.AcquireArgs{
			Name: name, Owner: cmd.owner.field(), Lease: cmd.lease, Level: int64(cmd.level), WantHolder: cmd.record,
		})
	case askRelease:
		door.Release(&a.op, a, rediscmd.ReleaseArgs{
			Name: name, Owner: cmd.owner.field(), Level: int64(cmd.level), Lease: cmd.lease,
		})
	case askHandOff:
		lease := cmd.lease
		if cmd.keep {
			lease = 0
		}
		door.HandOff(&a.op, a, rediscmd.HandOffArgs{
			Name: name, From: cmd.owner.field(), To: cmd.to.field(), Lease: lease, Yield: cmd.yield,
		})
	case askExtend:
		door.Extend(&a.op, a, rediscmd.ExtendArgs{Name: name, Owner: cmd.owner.field(), Lease: cmd.lease})
	case askForce:
		door.Force(&a.op, a, name)
	case askCheck:
		door.Check(&a.op, a, name, cmd.owner.field())
	}
}

// unsent answers a command that panicked on its way out: without a reply its
// name would wait for ever.
func (a *activation) unsent() {
	if v := recover(); v != nil {
		a.cell.sys.complain("panic while sending", a.cell.key.name, v, debug.Stack())
		a.op.Reply = rediscmd.Reply{
			Outcome: rediscmd.OutcomeUnknown,
			Err:     fmt.Errorf("holdfast: internal error: %v", v),
			SentAt:  time.Now(),
		}
		a.Completed(nil)
	}
}
