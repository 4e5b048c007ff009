package wheel

import "time"

// slot is the entries that are woken together, at geometry.at(number).
type slot[T any] struct {
	bucket  *bucket[T] // nil while asleep
	number  int64      // means nothing while asleep; it grows, so it tells one use of a slot from the next
	pos     int        // index in the near heap
	state   slotState
	ordered bool // is in Wheel.orders
}

// slotState says who will wake a slot.
type slotState uint8

const (
	asleep    slotState = iota // nobody: it is not in use
	onLibrary                  // the drive loop and the library, or the guard
	inNear                     // the runtime timer
)

// place puts a detached entry where it will be woken in time. Called with the mutex held.
//
// No slot that is in use has a time more than geometry.ahead slots after now, and the ring is longer than that, so two
// slots want the same place only if the older one is overdue by more than the guard allows. The newcomer then goes to
// the near heap, which is right for every entry and only costs more.
func (w *Wheel[T]) place(e *Entry[T], now time.Duration) {
	number, ok := w.geo.slotFor(e.due, e.exact, now)
	if ok {
		s := &w.ring[number%w.geo.slots]
		if s.state == asleep {
			s.number, s.bucket = number, w.ready.fresh()
			w.arm(s, now)
		}
		if s.number == number {
			e.state = inBucket
			s.bucket.push(e)
			return
		}
	}
	e.state = inHeap
	w.near.push(node[T]{at: e.due, entry: e})
	w.setTimer(e.due, now)
}

// arm has a slot woken by whoever can do it.
func (w *Wheel[T]) arm(s *slot[T], now time.Duration) {
	if _, ok := w.geo.delay(w.geo.at(s.number) - now); !ok {
		w.bringNear(s, now)
		return
	}
	s.state = onLibrary
	if !s.ordered {
		s.ordered = true
		w.orders = append(w.orders, s)
		w.poke()
	}
}

// bringNear leaves a slot to the runtime timer.
func (w *Wheel[T]) bringNear(s *slot[T], now time.Duration) {
	at := w.geo.at(s.number)
	s.state = inNear
	w.near.push(node[T]{at: at, slot: s})
	w.setTimer(at, now)
}

// wake is what the library calls for a slot. It may lie in every way: the number rejects a call that is not for this use of the
// slot or comes twice, the clock rejects one that comes too soon.
func (w *Wheel[T]) wake(s *slot[T], number int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || s.state != onLibrary || s.number != number {
		return
	}
	now := w.Now()
	if wait := w.geo.at(number) - now; wait > 0 {
		if wait > w.geo.lead() {
			w.stats.Early++
		}
		w.bringNear(s, now)
		return
	}
	w.fire(s, now)
	w.drain()
}

// fire makes the entries of a slot ready and the slot free for its next turn.
func (w *Wheel[T]) fire(s *slot[T], now time.Duration) {
	b := s.bucket
	s.state, s.bucket = asleep, nil
	if b.empty() {
		w.ready.recycle(b)
		return
	}
	if w.cfg.Lag != nil {
		w.lags = append(w.lags, now-w.geo.at(s.number))
	}
	w.ready.push(b)
}
