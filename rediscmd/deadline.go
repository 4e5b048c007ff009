package rediscmd

import (
	"context"
	"sync/atomic"
	"time"
)

// deadline is the context of one batch after another. context.WithTimeout would be
// made anew for each; a batch that is answered in time, as nearly all are, leaves
// nothing behind but a stopped timer, and its context can go on.
type deadline struct {
	context.Context // canceled when the time is up
	base            time.Time
	at              atomic.Int64 // since base: a dial may still look at it
	timer           *time.Timer
}

// start returns a context that ends after timeout: d's, or a new one if that is
// over.
func (d *deadline) start(timeout time.Duration) *deadline {
	if d == nil {
		d = &deadline{base: time.Now()}
		var cancel context.CancelFunc
		d.Context, cancel = context.WithCancel(context.Background())
		d.at.Store(int64(timeout))
		d.timer = time.AfterFunc(timeout, cancel)
		return d
	}
	d.at.Store(int64(time.Since(d.base) + timeout))
	d.timer.Reset(timeout)
	return d
}

// stop returns d if it can be started again, nil if its time was up.
func (d *deadline) stop() *deadline {
	if d.timer.Stop() {
		return d
	}
	return nil
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	return d.base.Add(time.Duration(d.at.Load())), true
}

// Err implements context.Context.
func (d *deadline) Err() error {
	if d.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}
