package actors

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/telemetry"
	"github.com/holdfast-go/holdfast/wheel"
)

// Hold is one acquired level of a lock, and the right to unlock it once.
//
// A Hold belongs to whoever took it out of its future; its methods are safe for
// concurrent use. It is valid until it is unlocked or lost, whichever is first.
// Ask ValidFor or the context before every effect that must not happen without
// the lock: a lease is not a mutex, and code that was paused may wake up after
// its end.
//
// A Hold begins its life as the request for it: one allocation carries the call,
// its future, its place in the queue, its timer and, once granted, the lease.
// What most requests never need is in extra.
//
// What a renewal looks at is together, from the timer to the call's owner, and at the
// front, where the compiler's checks for nil read, too: among many thousands of holds
// each is cold when its turn comes, and the lines of memory that have to be fetched are
// most of what a renewal costs (warm.go).
type Hold struct {
	timer     wheel.Entry[timed]
	leased    atomic.Bool // the timer is the lease's; before that it is the wait's bound
	booked    bool        // telemetry and counters have seen the acquire end
	unlocking bool        // guarded by the tenure's mutex, as is ended
	ended     ending      // how it is over
	outside   bool        // it waits for admission; guarded by that one's mutex
	sys       *System
	own       tenure // the tenure that this hold began, if it did
	key       key
	call

	promise future.Promise[*Hold]
	parent  context.Context
	unhook  func() bool // stops watching parent; nil if it is not watched
	extra   atomic.Pointer[extra]

	since  time.Duration // when it was asked for; once it is held, when it was granted
	wait   time.Duration // WaitFor; 0: none
	queued time.Duration // when it was first found blocked
}

// extra is what few holds have. It is made while the request is one goroutine's
// at a time, or else under the tenure's mutex.
type extra struct {
	name    string // as the user says it, where a NameMapper made the key of it
	owner   string // the owner's text, for the spans
	acquire telemetry.AcquireSpan
	span    telemetry.HoldSpan

	ctx    context.Context // what is below: guarded by the tenure's mutex
	cancel context.CancelCauseFunc
	lost   chan struct{}
}

// more returns the extra, made on first use.
func (h *Hold) more() *extra {
	x := h.extra.Load()
	if x == nil {
		x = new(extra)
		h.extra.Store(x)
	}
	return x
}

// ending is how a hold is over.
type ending uint8

const (
	notEnded ending = iota
	endedReleased
	endedClosed
	endedLost
)

// cause is the error that says so.
func (e ending) cause() error { return [...]error{nil, ErrReleased, ErrClosed, ErrLost}[e] }

// Granted is the future of this request. Whoever first takes the Hold out of it
// (Get, TryGet, a callback, a combinator) claims the grant: from then on the
// watchdog renews it. A grant that nobody claims is given back when its ctx ends
// or its future is canceled, at the latest by its lease.
func (h *Hold) Granted() *future.Future[*Hold] { return h.promise.Future() }

// Name returns the lock's name.
func (h *Hold) Name() string {
	if x := h.extra.Load(); x != nil && x.name != "" {
		return x.name
	}
	return h.key.name
}

// Owner returns who holds the lock.
func (h *Hold) Owner() Owner { return h.owner }

// Count returns how many levels the owner held right after this grant: 1 for
// the first, 2 for a re-entry.
func (h *Hold) Count() int { return int(h.count) }

// Token returns the fencing token of a fenced lock's hold, 0 for other locks.
func (h *Hold) Token() int64 { return 0 }

// ValidFor returns how long the lock is certainly this owner's, by the local
// monotonic clock: the last acknowledged lease, counted from before it was asked
// for, less a margin for clock differences. 0 once the hold is over.
func (h *Hold) ValidFor() time.Duration {
	if h.over() != notEnded {
		return 0
	}
	return max(0, h.tenure.expiry()-h.sys.wheel.Now())
}

// over returns how the hold has ended, if it has.
func (h *Hold) over() ending {
	h.tenure.watch.mu.Lock()
	defer h.tenure.watch.mu.Unlock()
	return h.ended
}

// Context ends with the hold: context.Cause is ErrLost, ErrReleased or
// ErrClosed. It has the values of the ctx that the lock was asked with, but not
// its deadline or cancellation, which bounded the wait; it carries the owner, so
// that locking the same name with it re-enters, and the hold's span. Every call
// returns the same context.
func (h *Hold) Context() context.Context {
	h.tenure.watch.mu.Lock()
	defer h.tenure.watch.mu.Unlock()
	x := h.more()
	if x.ctx == nil {
		x.ctx, x.cancel = context.WithCancelCause(h.Adorn(context.WithoutCancel(h.parent)))
		if h.ended != notEnded {
			x.cancel(h.ended.cause())
		}
	}
	return x.ctx
}

// Adorn returns ctx carrying the hold's owner and span.
func (h *Hold) Adorn(ctx context.Context) context.Context {
	if x := h.extra.Load(); x != nil {
		ctx = x.span.Wrap(ctx)
	}
	return ContextWithOwner(ctx, h.owner)
}

// Lost returns a channel that is closed when the hold is lost: at the local
// deadline at the latest, which is before Redis can give the lock away, even
// when Redis cannot be reached. A hold that is unlocked or closed is not lost.
func (h *Hold) Lost() <-chan struct{} {
	h.tenure.watch.mu.Lock()
	defer h.tenure.watch.mu.Unlock()
	x := h.more()
	if x.lost == nil {
		x.lost = make(chan struct{})
		if h.ended == endedLost {
			close(x.lost)
		}
	}
	return x.lost
}

// UnlockAsync gives this level back. The hold's context ends at once; the future
// settles when Redis has answered, with ErrNotHeld if the hold had been lost or
// unlocked before (ErrLost tells which), ErrUnavailable if Redis gave no verdict
// while the lease lasted, ErrClosed after Close. A release without an answer is
// repeated while the lease lasts, whether or not anybody waits for the future.
func (h *Hold) UnlockAsync() *future.Future[struct{}] { return h.unlock(0) }

func (h *Hold) unlock(attend time.Duration) *future.Future[struct{}] {
	if !h.startUnlock() {
		return future.Failed[struct{}](ErrNotHeld)
	}
	now := h.sys.wheel.Now()
	h.end(endedReleased, endUnlocked, now)
	return h.sys.tell(&errand{call: call{kind: callUnlock}, task: duty{of: &h.call}}, h, now, attend)
}

// startUnlock is true for the first unlock.
func (h *Hold) startUnlock() bool {
	h.tenure.watch.mu.Lock()
	defer h.tenure.watch.mu.Unlock()
	first := !h.unlocking
	h.unlocking = true
	return first
}

// Unlock gives this level back and waits for Redis' answer until ctx ends; the
// unlock itself goes on if ctx ends first, and Unlock returns ctx's cause (if it is
// canceled while Redis does not answer, within a command's time, as in Lock). The
// other errors are UnlockAsync's. Only the first Unlock of a Hold can
// succeed, later ones are ErrNotHeld. With a local waiter the lock passes to it
// in the same round trip.
func (h *Hold) Unlock(ctx context.Context) error {
	_, err := h.unlock(canWait(ctx, 0)).Get(ctx)
	return err
}

// closeWait bounds Close.
const closeWait = 5 * time.Second

// Close is Unlock for defer: it does not depend on any ctx, waits at most 5 s,
// and is nil when the hold was unlocked before. It still reports a hold that was
// lost (ErrNotHeld, ErrLost), once.
func (h *Hold) Close() error {
	h.tenure.watch.mu.Lock()
	unlocked := h.unlocking
	h.tenure.watch.mu.Unlock()
	if unlocked {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return h.Unlock(ctx)
}

// Extend makes the lease last at least d from now, if it would not already. With
// the watchdog on, renewals go on and never shorten it. d is rounded up to whole
// milliseconds and must be within [10 ms, 2^40 ms] (ErrInvalidLease). ErrNotHeld
// if the hold is over (ErrLost: lost), ErrClosed after Close, ErrUnavailable if
// Redis gave no verdict. If ctx ends first its cause is returned, and the
// extension may still happen.
func (h *Hold) Extend(ctx context.Context, d time.Duration) error {
	lease, err := CheckLease(d)
	if err != nil {
		return err
	}
	switch h.over() {
	case notEnded:
	case endedLost:
		return errGone
	case endedClosed:
		return ErrClosed
	default:
		return ErrNotHeld
	}
	_, err = h.sys.tell(&errand{call: call{kind: callExtend, lease: lease}}, h, h.sys.wheel.Now(), canWait(ctx, 0)).Get(ctx)
	return err
}

// CheckLease rounds a lease up to whole milliseconds and refuses what Redis
// would take for "no lease" or "for ever".
func CheckLease(d time.Duration) (time.Duration, error) {
	if d < MinLease || d > MaxLease {
		return 0, fmt.Errorf("%w: %v is not within %v and %v", ErrInvalidLease, d, MinLease, MaxLease)
	}
	return wholeMillis(d), nil
}

// LogValue implements slog.LogValuer.
func (h *Hold) LogValue() slog.Value {
	return slog.GroupValue(slog.String("lock", h.Name()), slog.String("owner", h.owner.String()), slog.Int("count", h.Count()))
}

// errand is an unlock or an extend on its way, with its future.
type errand struct {
	call
	task    duty
	started time.Duration
	promise future.Promise[struct{}]
}

// tell posts an errand about h.
func (s *System) tell(e *errand, h *Hold, now, attend time.Duration) *future.Future[struct{}] {
	e.started = now
	e.tenure, e.duty, e.task.after = h.tenure, &e.task, e
	e.message = message{kind: evCall, about: &e.call}
	if !s.post(h.tenure.cell, h.key, &e.message, attend) {
		e.settle(false, ErrClosed, now)
	}
	return e.promise.Future()
}

// settle implements settler.
func (e *errand) settle(_ bool, err error, now time.Duration) {
	if e.promise.Settle(struct{}{}, err) && e.kind == callUnlock {
		h := e.of.hold
		h.sys.tel.Released(h.key.kind.Name, now-e.started, err)
	}
}
