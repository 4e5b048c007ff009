package wheel

// onGuard runs about once a second on a runtime timer, whatever the library does. It orders a heartbeat, because the library's
// clock stands still while nothing fires and a stale one sends new timers to a second level, where they are late; and it fires
// the slots that the library forgot.
//
// It costs a look at each slot whose time has come since it last ran, about ten, whether or not anything is scheduled.
func (w *Wheel[T]) onGuard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	// Before anything is delivered: a Handler that hangs must not take the guard with it.
	w.guard.Reset(w.geo.beat)
	w.pulse = true
	w.poke()

	now := w.Now()
	last := w.geo.overdue(now)
	// A slot that was looked at cannot be put on the library again before its place comes round: slots are armed for later
	// than now only. One turn sees every place, should the guard itself have been held up for longer.
	for n := max(w.checked, last-w.geo.slots+1, 0); n <= last; n++ {
		s := &w.ring[n%w.geo.slots]
		if s.state == onLibrary && s.number <= last {
			w.stats.Stalled++
			w.fire(s, now)
		}
	}
	w.checked = max(w.checked, last+1)
	w.drain()
}
