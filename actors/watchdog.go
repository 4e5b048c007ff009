package actors

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
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
// Rules: no claim, no renewal. Renewed every third of the watchdog timeout, a
// little early by jitter so that leases taken together spread out. A renewal
// without an acknowledgement is tried again until the deadline. After unwatch
// nothing is sent, and replies still under way change nothing: the epoch tells.

// watch is the watchdog's notes on one tenure, embedded in it.
type watch struct {
	mu    sync.Mutex // orders a renewal's reply against watch and unwatch
	on    bool
	epoch uint32

	claimed   atomic.Bool // somebody took a level's grant out of its future
	dormant   atomic.Bool // a renewal fell due before that
	busy      atomic.Bool // a renewal is in flight: item and sent are its
	item      rediscmd.Renewal
	sent      uint32 // the epoch it was sent in
	renewals  atomic.Int32
	minMargin atomic.Int64
	trouble   atomic.Pointer[error]
}

// watch (re)starts the lease timer of a tenure. On the actor.
func (s *System) watch(t *tenure, now time.Duration) {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = true
	w.epoch++
	t.home.began.Store(t) // its timer is the lease's from now on
	s.armLease(t, now)
}

// unwatch stops it. On the actor, before the command that gives the lease up.
func (s *System) unwatch(t *tenure) {
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on { // else the timer is still the wait's
		s.wheel.Cancel(&t.home.timer)
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
			_ = s.wheel.Schedule(&t.home.timer, at)
			return
		}
	}
	_ = s.wheel.ScheduleExact(&t.home.timer, due)
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
		s.table.post(t.home.key, &message{kind: evExpired, tenure: t})
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
		_ = s.wheel.ScheduleExact(&t.home.timer, deadline)
	default:
		// Whatever comes of the renewal, the deadline stands until it is
		// acknowledged.
		_ = s.wheel.ScheduleExact(&t.home.timer, deadline)
		if !w.claimed.Load() {
			w.dormant.Store(true)
			if !w.claimed.Load() || !w.dormant.Swap(false) {
				return false
			}
		}
		batch.add(t)
	}
	return false
}

// claimed: a level of t was taken out of its future. If its renewal had been
// due before that, it is due now.
func (s *System) claimed(t *tenure) {
	t.watch.claimed.Store(true)
	if t.watch.dormant.Swap(false) {
		_ = s.wheel.Schedule(&t.home.timer, s.wheel.Now())
	}
}

// renewals gathers what is due in one call of the wheel.
type renewals struct {
	sys   *System
	kinds []kindBatch
}

type kindBatch struct {
	kind  *Kind
	items []*rediscmd.Renewal
}

// add is called with the watch's mutex held.
func (b *renewals) add(t *tenure) {
	w := &t.watch
	if w.busy.Swap(true) {
		return // its reply arms the timer
	}
	w.sent = w.epoch
	w.item = rediscmd.Renewal{Name: t.home.key.name, Owner: t.owner.field, Lease: b.sys.rules.watchdog, Value: t}
	for i := range b.kinds {
		if b.kinds[i].kind == t.home.key.kind {
			b.kinds[i].items = append(b.kinds[i].items, &w.item)
			return
		}
	}
	b.kinds = append(b.kinds, kindBatch{t.home.key.kind, []*rediscmd.Renewal{&w.item}})
}

// onWheel is the wheel's handler: everything that is due, in one go.
func (s *System) onWheel(entries []*wheel.Entry[timed]) {
	batch := renewals{sys: s}
	now := s.wheel.Now()
	for _, e := range entries {
		e.Value.due(now, &batch)
	}
	for _, k := range batch.kinds {
		s.renew(k)
	}
}

// renew sends a batch. One that panics on its way out is answered, or its leases
// would count as in flight for ever: they are tried again within their time.
func (s *System) renew(k kindBatch) {
	defer func() {
		if v := recover(); v != nil {
			s.complain("panic while renewing", k.items[0].Name, v, debug.Stack())
			s.Renewed(k.items, rediscmd.Reply{
				Outcome: rediscmd.OutcomeUnknown,
				Err:     fmt.Errorf("holdfast: internal error: %v", v),
				SentAt:  time.Now(),
			})
		}
	}()
	k.kind.Door.Renew(k.items, s)
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
	for _, item := range items {
		t := item.Value.(*tenure) // read now: once it is not busy, the item may be sent again
		result, left := s.renewed(t, item, &r, sentAt, now)
		switch result {
		case renewalHeld:
			report.Renewed++
			s.tel.RenewMargin(max(left, 0))
		case renewalGone:
			report.Lost++
			s.table.post(t.home.key, &message{kind: evRefused, tenure: t})
		case renewalFailed:
			report.Failed++
		}
	}
	s.tel.RenewedBatch(report)
}

type renewalResult uint8

const (
	renewalStale renewalResult = iota // the tenure has moved on meanwhile
	renewalHeld
	renewalGone
	renewalFailed
)

// renewed deals with one lease of a batch; left is what its deadline had left.
func (s *System) renewed(t *tenure, item *rediscmd.Renewal, r *rediscmd.Reply, sentAt, now time.Duration) (result renewalResult, left time.Duration) {
	held, lease := item.Held, item.Lease
	w := &t.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy.Store(false)
	switch current := w.sent == w.epoch; {
	case !w.on:
		return renewalStale, 0
	case !current:
		s.armLease(t, now) // watched anew meanwhile: this reply says nothing of that
		return renewalStale, 0
	case r.Outcome != rediscmd.OutcomeDone:
		w.trouble.Store(&r.Err)
		s.retryRenewal(t, now)
		return renewalFailed, 0
	case !held:
		return renewalGone, 0
	}
	w.trouble.Store(nil)
	if left = t.expiry() - now; left > 0 {
		t.trust(sentAt, lease)
		if w.renewals.Add(1) == 1 || int64(left) < w.minMargin.Load() {
			w.minMargin.Store(int64(left))
		}
	}
	s.armLease(t, now)
	return renewalHeld, left
}

// retryRenewal tries again within the lease, after a thirtieth of it or a
// second, whichever is less; the deadline comes first if it is nearer.
func (s *System) retryRenewal(t *tenure, now time.Duration) {
	pause := min(s.rules.watchdog/30, time.Second)
	if at := now + pause/2 + s.jitter(pause); at < t.expiry()-s.slot {
		_ = s.wheel.Schedule(&t.home.timer, at)
	} else {
		_ = s.wheel.ScheduleExact(&t.home.timer, t.expiry())
	}
}
