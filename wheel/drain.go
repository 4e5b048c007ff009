package wheel

import (
	"log/slog"
	"runtime/debug"
	"time"
)

const (
	// batchSize is the most that Handler gets at once: one DoMulti of renewals, and the point where the mutex is free
	// for others.
	batchSize = 256
	// lookSize bounds how many ready entries are looked at under the mutex in one go, when most of them are not due and
	// only move on.
	lookSize = 4 * batchSize
)

// drain delivers all that is due, and sets the timer for what is next. It is called with the mutex held and returns with it
// held, but gives it up around each batch. Only one goroutine delivers at a time: to all others drain is a no-op, because
// the one that delivers looks again before it leaves.
func (w *Wheel[T]) drain() {
	if w.draining || w.closed {
		return
	}
	w.draining = true
	// Deferred for a Handler that ends its goroutine (runtime.Goexit, t.FailNow in a test): the next one takes over.
	defer w.endDrain()
	for !w.closed && w.gather() {
		w.deliver()
	}
}

func (w *Wheel[T]) endDrain() {
	w.draining = false
	if w.drained != nil {
		close(w.drained)
	}
	switch {
	case w.closed:
	case !w.ready.empty():
		w.setTimer(0, 0)
	case len(w.near.nodes) > 0:
		w.setTimer(w.near.nodes[0].at, w.Now())
	}
}

// gather fills the batch with what is due and says whether it found anything to do. Here, and only here, is decided
// that an entry is due.
func (w *Wheel[T]) gather() bool {
	now := w.Now()

	// Near entries first, they are the ones that count milliseconds; but they leave room, so that a Handler that keeps
	// scheduling at once cannot starve the rest.
	room := batchSize
	if !w.ready.empty() {
		room /= 2
	}
	for len(w.batch) < room && len(w.near.nodes) > 0 && w.near.nodes[0].at <= now {
		if n := w.near.remove(0); n.slot != nil {
			w.fire(n.slot, now)
		} else {
			w.hand(n.entry)
		}
	}

	looked := 0
	for ; looked < lookSize && len(w.batch) < batchSize; looked++ {
		e := w.ready.pop()
		if e == nil {
			break
		}
		if e.due > now { // exact, or longer than the ring
			w.place(e, now)
			continue
		}
		w.hand(e)
	}
	return looked > 0 || len(w.batch) > 0 || len(w.lags) > 0
}

// hand moves an entry from the wheel to the batch.
func (w *Wheel[T]) hand(e *Entry[T]) {
	e.state = detached
	w.length--
	w.stats.Fired++
	w.batch = append(w.batch, e)
}

// deliver calls back without the mutex. The batch belongs to whoever is draining; the lags are taken along, since others add
// to them.
func (w *Wheel[T]) deliver() {
	lags := w.lags
	w.lags = nil
	w.mu.Unlock()
	defer func() { // deferred for the sake of Goexit, see drain
		clear(w.batch)
		w.mu.Lock()
		w.batch = w.batch[:0]
		if w.lags == nil {
			w.lags = lags[:0]
		}
	}()
	for _, d := range lags {
		w.callLag(d)
	}
	if len(w.batch) > 0 {
		w.callHandler(w.batch)
	}
}

func (w *Wheel[T]) callLag(d time.Duration) {
	defer w.recovered()
	w.cfg.Lag(d)
}

func (w *Wheel[T]) callHandler(due []*Entry[T]) {
	defer w.recovered()
	w.cfg.Handler(due)
}

// recovered must be deferred directly. A panic would otherwise end the process: nobody else is on this goroutine's stack.
func (w *Wheel[T]) recovered() {
	value := recover()
	if value == nil {
		return
	}
	stack := debug.Stack()
	defer func() {
		if second := recover(); second != nil {
			slog.Error("wheel: panic in Config.Panic", "panic", second, "first", value)
		}
	}()
	w.cfg.Panic(value, stack)
}
