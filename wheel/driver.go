package wheel

import (
	"time"

	"github.com/RussellLuo/timingwheel"
)

// driver is what wakes slots: the library, or a liar in the tests. Both methods are called by the drive loop only.
type driver interface {
	// after has f called on a goroutine of its own in about d. It is a hint: early, late, never and twice are survived.
	after(d time.Duration, f func())
	// stop ends the driver and its goroutines. Calls of f that have begun are not waited for.
	stop()
}

// library is the driver for production.
type library struct {
	wheel *timingwheel.TimingWheel
}

func newLibrary(g geometry) driver {
	l := &library{wheel: timingwheel.NewTimingWheel(g.tick, g.ticks)}
	l.wheel.Start()
	return l
}

func (l *library) after(d time.Duration, f func()) { l.wheel.AfterFunc(d, f) }

func (l *library) stop() { l.wheel.Stop() }

// start begins the drive loop: the one goroutine that talks to the driver.
func (w *Wheel[T]) start(d driver) { go w.drive(d) }

// drive puts slots on the driver until Stop. Being alone is the point: the library loses its place when two goroutines add
// to it at once, and can block one that adds while another stops it. If it blocks nevertheless, only this goroutine hangs,
// and the guard goes on firing slots.
func (w *Wheel[T]) drive(d driver) {
	defer close(w.drove)
	defer d.stop()
	for {
		select {
		case <-w.quit:
			return
		case <-w.kick:
		}
		for {
			delay, wake := w.nextOrder()
			if wake == nil {
				break
			}
			d.after(delay, wake)
		}
	}
}

// poke tells the drive loop that there is something to do. It never blocks: one pending kick is enough for any number of
// orders.
func (w *Wheel[T]) poke() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// nextOrder is the next thing to put on the driver; a nil func means that there is none.
func (w *Wheel[T]) nextOrder() (time.Duration, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, nil
	}
	for last := len(w.orders) - 1; last >= 0; last-- {
		s := w.orders[last]
		w.orders = w.orders[:last]
		s.ordered = false
		if s.state != onLibrary {
			continue // the guard was faster
		}
		now, number := w.Now(), s.number
		delay, ok := w.geo.delay(w.geo.at(number) - now)
		if !ok {
			w.bringNear(s, now)
			continue
		}
		return delay, func() { w.wake(s, number) }
	}
	if w.pulse {
		w.pulse = false
		return w.geo.pulse, func() {} // firing is all it does: the library's clock moves with it
	}
	return 0, nil
}
