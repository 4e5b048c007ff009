package actors

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/telemetry"
)

// This file is a hold's life as the actor sees it: granted, claimed, ended. The
// methods run on the actor unless they say otherwise.

var _ future.Keeper[*Hold] = (*Hold)(nil)

// newTenure begins the tenure of c's owner, in the memory of its hold.
func newTenure(c *call) *tenure {
	h := c.hold
	if h == nil {
		return &tenure{first: c}
	}
	t := &h.own
	if t.first != nil {
		t = new(tenure)
	}
	t.first = c
	return t
}

// arrive is the request's first moment on the actor, before any decision. A
// request that was canceled before it got here is over: its cancel may have
// found nothing to cancel. The WaitFor bound starts to tick here, so that it
// cannot pass before there is a wait.
func (h *Hold) arrive() bool {
	if h.promise.Future().IsDone() {
		h.phase = phaseOver
		h.dropped()
		return false
	}
	if !h.late {
		h.bound()
	}
	return true
}

// bound starts the timer of a request that waits only so long.
func (h *Hold) bound() {
	if h.wait > 0 {
		_ = h.sys.wheel.ScheduleExact(&h.timer, h.since+h.wait) // closed: Close answers
	}
}

// grant settles the future with the hold. If its caller canceled in the same
// moment the future refuses, and the cancel that is on its way to the actor
// gives the grant back.
func (h *Hold) grant(t *tenure, now time.Duration) {
	h.sys.held.Add(1)
	if t.home() != h {
		h.sys.wheel.Cancel(&h.timer)
	}
	h.trace(now)
	h.book(telemetry.OutcomeAcquired, nil, now)
	h.since = now
	h.sys.unclaimed.Add(1)
	if !h.promise.Settle(h, nil) {
		h.sys.unclaimed.Add(-1)
	}
}

// trace starts the span of the hold, if there is to be one.
func (h *Hold) trace(now time.Duration) {
	if !h.sys.tel.Traces(h.parent) {
		return
	}
	mode := telemetry.LeaseFixed
	if h.watchdog {
		mode = telemetry.LeaseWatchdog
	}
	x := h.more()
	h.sys.tel.StartHold(h.parent, &x.span, telemetry.HoldInfo{
		Name: h.Name(), Kind: h.key.kind.Name, Owner: x.owner, LeaseMode: mode, Count: h.Count(), At: h.sys.wall(now),
	})
}

// fail settles the future with an error; false if it was settled before.
func (h *Hold) fail(err, trouble error) bool {
	if held, ok := err.(*HeldError); ok && trouble != nil {
		held.Err = &opError{ErrUnavailable, "acquire", trouble}
	}
	outcome := telemetry.OutcomeError
	switch {
	case errors.Is(err, ErrClosed):
		outcome = telemetry.OutcomeClosed
	case errors.Is(err, ErrNotAcquired) && h.try:
		outcome = telemetry.OutcomeBusy
	case errors.Is(err, ErrNotAcquired):
		outcome = telemetry.OutcomeTimeout
	}
	settled := h.promise.Settle(nil, err)
	h.detach()
	h.book(outcome, err, h.sys.wheel.Now())
	return settled
}

// dropped: the caller gave up, and its future says so already.
func (h *Hold) dropped() {
	h.book(telemetry.OutcomeCanceled, nil, h.sys.wheel.Now())
	h.detach()
}

// detach lets go of what a request that got nothing had registered.
func (h *Hold) detach() {
	h.sys.wheel.Cancel(&h.timer)
	if h.unhook != nil {
		h.unhook()
	}
}

// book ends the acquire for telemetry and the counters, once.
func (h *Hold) book(outcome string, err error, now time.Duration) {
	if h.booked {
		return
	}
	h.booked = true
	h.sys.pending.Add(-1)
	end := telemetry.AcquireEnd{
		Kind: h.key.kind.Name, Name: h.Name(), Outcome: outcome, Contended: h.blocked, Reentrant: h.reentry,
		Took: now - h.since, Attempts: int(h.attempts), At: h.sys.wall(now), Err: err,
	}
	if h.blocked {
		end.Waited, end.Position, end.Wakeup = now-h.queued, int(h.place), h.woke.String()
		h.sys.waiting.Add(-1)
	}
	var span *telemetry.AcquireSpan
	if x := h.extra.Load(); x != nil {
		span = &x.acquire
	}
	h.sys.tel.EndAcquire(span, end)
}

// blockedBy notes who was in the way: a hold of this runtime, whose span the
// waiter's links to, or an owner elsewhere, of whom there is only the name.
func (h *Hold) blockedBy(t *tenure, holder string) {
	h.queued = h.sys.wheel.Now()
	h.sys.waiting.Add(1)
	x := h.extra.Load()
	if x == nil || !x.acquire.Recording() {
		return
	}
	b := telemetry.Blocker{Owner: holder, Origin: telemetry.OriginRemote}
	if t != nil {
		b.Owner, b.Origin = t.owner().String(), telemetry.OriginLocal
		if first := t.levels.head; first != nil && first.hold != nil {
			if of := first.hold.extra.Load(); of != nil {
				b.Span = of.span.SpanContext()
			}
		}
	}
	x.acquire.Blocked(b)
}

// Claimed implements future.Keeper, on the goroutine that took the hold: the
// watchdog may renew from now on.
func (h *Hold) Claimed(*Hold) {
	h.sys.unclaimed.Add(-1)
	if h.unhook != nil {
		h.unhook()
	}
	h.sys.claimed(h.tenure)
}

// Canceled implements future.Keeper, on the goroutine that canceled.
func (h *Hold) Canceled(cause error, _ *Hold, settled bool) {
	if settled {
		h.sys.unclaimed.Add(-1)
		why := telemetry.CleanupCanceled
		if errors.Is(cause, ErrLost) || errors.Is(cause, ErrClosed) {
			why = telemetry.CleanupUnclaimed
		}
		h.sys.tel.CleanedUp(why)
	}
	h.sys.expedite(h, false)
	h.sys.table.post(h.key, &message{kind: evCancel, about: &h.call})
}

// Discarded implements future.Keeper: a combinator claimed the hold for nobody.
func (h *Hold) Discarded(*Hold) { h.UnlockAsync() }

// end is the end of the hold, whatever the cause; only the first one counts. It
// runs on the actor, or on the caller's goroutine for its own unlock.
func (h *Hold) end(how ending, reason string, now time.Duration) {
	mu := &h.tenure.watch.mu
	mu.Lock()
	if h.ended != notEnded {
		mu.Unlock()
		return
	}
	h.ended = how
	lost := how == endedLost
	var cancel context.CancelCauseFunc
	if x := h.extra.Load(); x != nil {
		cancel = x.cancel
		if x.lost != nil && lost {
			close(x.lost)
		}
	}
	mu.Unlock()
	if cancel != nil {
		cancel(how.cause())
	}
	if how != endedReleased && h.promise.Future().Cancel(how.cause()) {
		lost = false
	}
	lost = lost && h.promise.Claimed() // what nobody had taken, nobody lost
	h.sys.held.Add(-1)
	if lost {
		h.sys.tellLost(h, reason)
	}
	h.bookEnd(lost, reason, now)
}

// bookEnd ends the hold for telemetry. A provider that panics must not keep the
// unlock that is about to be sent from being sent.
func (h *Hold) bookEnd(lost bool, reason string, now time.Duration) {
	defer func() {
		if v := recover(); v != nil {
			h.sys.log.Error("holdfast: panic in telemetry", "panic", v)
		}
	}()
	renewals, least := h.tenure.watch.tally()
	e := telemetry.HoldEnd{
		Kind: h.key.kind.Name, Name: h.Name(), Reason: reason, Held: now - h.since, At: h.sys.wall(now),
		Renewals: renewals, MinMargin: least,
	}
	if lost {
		e.Reason, e.Err = endLost, ErrLost
	}
	var span telemetry.HoldSpan // EndHold empties what it is given; others may be reading ours
	if x := h.extra.Load(); x != nil {
		span = x.span
	}
	h.sys.tel.EndHold(&span, e)
}

// due implements timed, on the wheel: before the grant the timer is the WaitFor
// bound, afterwards the lease.
func (h *Hold) due(now time.Duration, batch *renewals) {
	if h.leased.Load() {
		h.sys.leaseDue(h.tenure, now, batch)
		return
	}
	h.sys.expedite(h, true)
	h.sys.table.post(h.key, &message{kind: evWaitOver, about: &h.call})
}

// parentEnded runs when the ctx that an async acquire was asked with ends.
func (h *Hold) parentEnded() {
	h.promise.Future().Cancel(abandoned(h.parent, h.trouble()))
}

// trouble is the last server error that waiters of this name have met; if it has not
// heard of this one yet, the last that anybody met.
func (h *Hold) trouble() error {
	if q := &h.sys.admission; q.has(h) {
		return q.lastTrouble()
	}
	return h.sys.troubleOf(h.key)
}
