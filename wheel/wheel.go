package wheel

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed is returned by Schedule and ScheduleExact after Stop.
var ErrClosed = errors.New("wheel: closed")

// Wheel holds entries until they are due. All methods are safe for use by any number of goroutines at once, and none but
// Stop ever waits for a callback or for the library.
type Wheel[T any] struct {
	cfg Config[T]
	geo geometry

	kick  chan struct{} // capacity 1: the drive loop has something to do
	quit  chan struct{} // closed by the first Stop
	drove chan struct{} // closed by the drive loop when the library has stopped

	mu       sync.Mutex // guards all below, and every scheduled entry; never held across a callback or a library call
	closed   bool
	length   int // entries that are scheduled
	ring     []slot[T]
	orders   []*slot[T] // slots for the drive loop to put on the library
	pulse    bool       // the drive loop shall put a heartbeat on the library
	near     heap[T]
	timer    *time.Timer   // runs onTimer when the top of near is due
	timerAt  time.Duration // what timer is set to, never when it is not set
	ready    buckets[T]    // entries whose slot has fired
	draining bool          // one goroutine is delivering; batch is its own
	drained  chan struct{} // closed when draining ends; nil until a Stop has to wait
	batch    []*Entry[T]
	lags     []time.Duration
	guard    *time.Timer
	checked  int64 // slots before this one have been looked at by the guard
	stats    Stats
}

// Stats are running totals since New.
type Stats struct {
	Fired   uint64 // entries handed to Handler
	Early   uint64 // slots that the library woke too soon; they were held back until their time
	Stalled uint64 // slots that the library had not woken when the guard found them overdue
}

// New starts a wheel. It returns an error that names the field when cfg is unusable. The caller must call Stop.
func New[T any](cfg Config[T]) (*Wheel[T], error) {
	return newWheel(cfg, newLibrary)
}

func newWheel[T any](cfg Config[T], newDriver func(geometry) driver) (*Wheel[T], error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	geo := newGeometry(cfg.Granularity, cfg.Horizon)
	w := &Wheel[T]{
		cfg:     cfg,
		geo:     geo,
		kick:    make(chan struct{}, 1),
		quit:    make(chan struct{}),
		drove:   make(chan struct{}),
		ring:    make([]slot[T], geo.slots),
		timerAt: never,
		batch:   make([]*Entry[T], 0, batchSize),
	}
	// The callbacks take the mutex first, so they cannot see a wheel that is half built.
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(never, w.onTimer)
	w.timer.Stop()
	w.guard = time.AfterFunc(geo.beat, w.onGuard)
	w.start(newDriver(geo))
	return w, nil
}

// Now is the monotonic time since Config.Base: the clock that due times refer to.
func (w *Wheel[T]) Now() time.Duration { return time.Since(w.cfg.Base) }

// Schedule has e handed to Handler not before due, and at most one Granularity (plus scheduling) after it, together with
// everything else of the same slot. An entry that was already scheduled is moved. A due time in the past, or negative,
// fires at the next opportunity, never from inside Schedule: the caller may hold locks that Handler wants.
// It returns ErrClosed after Stop. It never blocks.
func (w *Wheel[T]) Schedule(e *Entry[T], due time.Duration) error {
	return w.schedule(e, due, false)
}

// ScheduleExact has e handed to Handler not before due, and late by scheduling only (about a millisecond on a machine
// that is not overloaded). Entries due at the same time share a batch. The rules of Schedule hold.
func (w *Wheel[T]) ScheduleExact(e *Entry[T], due time.Duration) error {
	return w.schedule(e, due, true)
}

func (w *Wheel[T]) schedule(e *Entry[T], due time.Duration, exact bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.remove(e)
	w.length++
	e.due, e.exact = max(due, 0), exact
	// The clock is read under the mutex: "now" never runs backwards between two critical sections, which the ring relies on.
	w.place(e, w.Now())
	return nil
}

// Cancel takes e off the wheel. True means that e was scheduled and that the call of Handler for that scheduling will
// not happen. False means that there was nothing to cancel: e was never scheduled, has been canceled or returned by
// Stop, or belongs to a batch that Handler has had, has now, or is about to have. It never blocks.
func (w *Wheel[T]) Cancel(e *Entry[T]) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remove(e)
}

// remove detaches e from wherever it is and says whether it was scheduled.
func (w *Wheel[T]) remove(e *Entry[T]) bool {
	switch e.state {
	case inBucket:
		e.in.remove(e)
	case inHeap:
		w.near.remove(int(e.pos))
	default:
		return false
	}
	e.state = detached
	w.length--
	return true
}

// Len is the number of entries that are scheduled.
func (w *Wheel[T]) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.length
}

// Stats returns the totals so far.
func (w *Wheel[T]) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Stop closes the wheel: Schedule fails from now on, no further batch starts. It returns the entries that were still
// pending, in no particular order; they are detached. Then it waits until the batch in flight has been handled and every
// goroutine of the wheel has ended, or until ctx ends, whichever is first. What it returns is complete in both cases. Give
// ctx a deadline: a library that has deadlocked, or a Handler that hangs, cannot be stopped.
//
// Further calls wait likewise and return nil. Stop must not be called from Handler or Lag: it would wait for its caller.
func (w *Wheel[T]) Stop(ctx context.Context) []*Entry[T] {
	w.mu.Lock()
	var pending []*Entry[T]
	if !w.closed {
		w.closed = true
		pending = w.takeAll()
		w.timer.Stop()
		w.guard.Stop()
		close(w.quit)
	}
	if w.draining && w.drained == nil {
		w.drained = make(chan struct{})
	}
	drained := w.drained
	w.mu.Unlock()

	if drained != nil {
		await(ctx, drained)
	}
	await(ctx, w.drove)
	return pending
}

// takeAll detaches everything that is scheduled.
func (w *Wheel[T]) takeAll() []*Entry[T] {
	if w.length == 0 {
		return nil
	}
	for i := range w.ring {
		if s := &w.ring[i]; s.state != asleep {
			w.ready.push(s.bucket)
			s.state, s.bucket = asleep, nil
		}
	}
	all := make([]*Entry[T], 0, w.length)
	for e := w.ready.pop(); e != nil; e = w.ready.pop() {
		e.state = detached
		w.length--
		all = append(all, e)
	}
	for _, n := range w.near.nodes {
		if n.entry != nil {
			n.entry.state = detached
			w.length--
			all = append(all, n.entry)
		}
	}
	w.near.nodes = nil
	return all
}

func await(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}
