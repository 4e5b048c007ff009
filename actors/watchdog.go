package actors

import (
	"math"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/telemetry"
	"github.com/holdfast-go/holdfast/wheel"
)

// The watchdog keeps leases alive without waking actors: the wheel hands it
// every lease that is due, it renews them in one batch per kind, and a success
// moves the tenure's deadline and the timer. Only a loss becomes a message: the
// field is gone (evRefused), or the deadline passed (evExpired).
//
// Rules: no claim, no renewal. Renewed every third of the watchdog timeout, the
// first time a little early by jitter so that leases taken together spread out. A
// renewal without an acknowledgement is tried again until the deadline. After unwatch
// nothing is sent, and replies still under way change nothing: the epoch tells.

// watch is the watchdog's notes on one tenure, embedded in it. The mutex orders a
// renewal's reply against watch and unwatch, and also what callers ask of a hold
// against its end.
type watch struct {
	mu      sync.Mutex
	trouble *error // the last renewal's; nil, as nearly always: it did not fail

	epoch    uint32
	renewals int32 // acknowledged ones
	least    int32 // milliseconds that the deadline had left at one of them, at worst
	on       bool
	claimed  bool // somebody took a level's grant out of its future
	stage    renewalStage
}

// renewalStage is how far the renewal that fell due last has come.
type renewalStage uint8

const (
	renewalDone    renewalStage = iota
	renewalDormant              // not sent: nobody has taken the grant out of its future yet
	renewalSent                 // in flight, and the timer is set to the deadline
	renewalAhead                // in flight, and the timer is set as if it succeeds
)

// acknowledged counts a renewal that left this much of the lease before it.
func (w *watch) acknowledged(left time.Duration) {
	ms := int32(min(left/time.Millisecond, math.MaxInt32))
	if w.renewals++; w.renewals == 1 || ms < w.least {
		w.least = ms
	}
}

// tally returns how many renewals were acknowledged, and what the lease had left
// at worst.
func (w *watch) tally() (renewals int, least time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(w.renewals), time.Duration(w.least) * time.Millisecond
}

func (w *watch) lastTrouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.trouble == nil {
		return nil
	}
	return *w.trouble
}

// watch (re)starts the lease timer of a tenure. On the actor.
func (s *System) watch(t *tenure, now time.Duration) {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = true
	w.epoch++
	t.home().leased.Store(true) // its timer is the lease's from now on
	s.armLease(t, now)
}

// unwatch stops it. On the actor, before the command that gives the lease up.
func (s *System) unwatch(t *tenure) {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on { // else the timer is still the wait's
		s.wheel.Cancel(&t.home().timer)
	}
	w.on = false
	w.epoch++
}

// armLease puts the tenure on the wheel for its next event: the renewal, in the
// coarse slots where leases gather into batches, or the deadline, exactly.
func (s *System) armLease(t *tenure, now time.Duration) {
	due := t.expiry()
	if t.watched.Load() {
		// A slot fires up to its width late, so one that ends after the deadline
		// will not do. A wheel that is closed renews nothing: Close releases.
		if at := max(s.renewAt(t, now), now); at < due-s.slot {
			_ = s.wheel.Schedule(&t.home().timer, at)
			return
		}
	}
	_ = s.wheel.ScheduleExact(&t.home().timer, due)
}

// renewAt is when two thirds of the watchdog timeout are left, less jitter. A
// lease that is longer (extended, or asked for by another level) is renewed as
// often: that never shortens it, and finds out that it was taken away.
func (s *System) renewAt(t *tenure, now time.Duration) time.Duration {
	w := s.rules.watchdog
	third := w / 3
	return min(t.expiry()+margin(w)-w+third, now+third) - s.jitter(third/10)
}

func (s *System) jitter(d time.Duration) time.Duration {
	x := s.seed.Add(0x9e3779b97f4a7c15)
	x ^= x >> 31
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 29
	return time.Duration(x % uint64(d+1))
}

// leaseDue is what to do about a lease whose timer fired. On the wheel. The
// message is posted with no lock held: posting may run the actor, right here.
func (s *System) leaseDue(t *tenure, now time.Duration, batch *renewals) {
	if s.leaseOver(t, now, batch) {
		s.table.post(t.home().key, &message{kind: evExpired, about: t.first})
	}
}

// leaseOver reports that the deadline has passed; otherwise it sees to what
// comes before it.
func (s *System) leaseOver(t *tenure, now time.Duration, batch *renewals) bool {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	switch deadline := t.expiry(); {
	case !w.on:
	case now >= deadline:
		return true
	case !t.watched.Load():
		_ = s.wheel.ScheduleExact(&t.home().timer, deadline)
	case !w.claimed:
		w.stage = renewalDormant
		_ = s.wheel.ScheduleExact(&t.home().timer, deadline)
	case w.stage >= renewalSent: // for so long that the next one is due
		w.stage = renewalSent
		_ = s.wheel.ScheduleExact(&t.home().timer, deadline)
	default:
		// The timer goes straight to the next renewal, which comes long before the
		// deadline: nearly all succeed, and then it is where it should be.
		// No jitter: the first renewal's has spread them out for good.
		if at := now + s.rules.watchdog/3; at < deadline-s.slot {
			w.stage = renewalAhead
			_ = s.wheel.Schedule(&t.home().timer, at)
		} else {
			w.stage = renewalSent
			_ = s.wheel.ScheduleExact(&t.home().timer, deadline)
		}
		batch.add(t)
	}
	return false
}

// claimed: a level of t was taken out of its future. If its renewal had been
// due before that, it is due now.
func (s *System) claimed(t *tenure) {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claimed = true
	if w.stage == renewalDormant {
		w.stage = renewalDone
		_ = s.wheel.Schedule(&t.home().timer, s.wheel.Now())
	}
}

// onWheel is the wheel's handler: everything that is due, in one go.
func (s *System) onWheel(entries []*wheel.Entry[timed]) {
	var batch renewals
	s.warm(entries)
	now := s.wheel.Now()
	for _, e := range entries {
		e.Value.due(now, &batch)
	}
	for _, k := range batch {
		s.renew(k)
	}
}

// Renewed implements rediscmd.RenewCompleter, on a pipeline worker: one script's
// worth of leases has its reply.
func (s *System) Renewed(items []*rediscmd.Renewal, r rediscmd.Reply) {
	now := s.wheel.Now()
	report := telemetry.RenewBatch{Err: r.Err}
	var sentAt time.Duration
	if !r.SentAt.IsZero() {
		sentAt = r.SentAt.Sub(s.base)
		report.Took = now - sentAt
	}
	defer items[0].Value.(*renewing).batch.done(len(items))
	s.warmAgain(items)
	for _, item := range items {
		sent := item.Value.(*renewing)
		sent.result, sent.left = s.renewed(sent, &r, sentAt, now)
		if sent.result == renewalGone {
			first := sent.tenure.first
			s.table.post(first.hold.key, &message{kind: evRefused, about: first})
		}
	}
	s.report(items, report)
}

// report tells telemetry, once every lease has been seen to: a provider that
// panics must not cost anybody theirs.
func (s *System) report(items []*rediscmd.Renewal, b telemetry.RenewBatch) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("holdfast: panic in telemetry", "panic", v)
		}
	}()
	for _, item := range items {
		switch sent := item.Value.(*renewing); sent.result {
		case renewalHeld:
			b.Renewed++
			s.tel.RenewMargin(max(sent.left, 0))
		case renewalGone:
			b.Lost++
		case renewalFailed:
			b.Failed++
		}
	}
	s.tel.RenewedBatch(b)
}

type renewalResult uint8

const (
	renewalStale renewalResult = iota // the tenure has moved on meanwhile
	renewalHeld
	renewalGone
	renewalFailed
)

// renewed deals with one lease of a batch; left is what its deadline had left.
func (s *System) renewed(sent *renewing, r *rediscmd.Reply, sentAt, now time.Duration) (result renewalResult, left time.Duration) {
	t := sent.tenure
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	stage := w.stage
	w.stage = renewalDone
	switch current := sent.epoch == w.epoch; {
	case !w.on:
		return renewalStale, 0
	case !current:
		s.armLease(t, now) // watched anew meanwhile: this reply says nothing of that
		return renewalStale, 0
	case r.Outcome != rediscmd.OutcomeDone:
		w.trouble = &r.Err
		s.retryRenewal(t, now)
		return renewalFailed, 0
	case !sent.item.Held:
		return renewalGone, 0
	}
	w.trouble = nil
	if left = t.expiry() - now; left > 0 {
		t.trust(sentAt, s.rules.watchdog)
		w.acknowledged(left)
	}
	if stage != renewalAhead {
		s.armLease(t, now)
	}
	return renewalHeld, left
}

// retryRenewal tries again within the lease, after a thirtieth of it or a
// second, whichever is less; the deadline comes first if it is nearer.
func (s *System) retryRenewal(t *tenure, now time.Duration) {
	pause := min(s.rules.watchdog/30, time.Second)
	if at := now + pause/2 + s.jitter(pause); at < t.expiry()-s.slot {
		_ = s.wheel.Schedule(&t.home().timer, at)
	} else {
		_ = s.wheel.ScheduleExact(&t.home().timer, t.expiry())
	}
}
