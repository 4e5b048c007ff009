package future

import (
	"context"
	"sync"
	"time"
)

// waiter is one blocked reader: a Get, or one future's part of a combinator. It is sent id at most once, when its
// future is done, so a channel with one slot per waiter never blocks who settles.
type waiter struct {
	ch         chan int
	id         int
	next, prev *waiter
	pooled     bool
}

// waiterList is a ring in order of arrival. Who is on the list of a future may be sent to by whoever completes it;
// who was taken off by unlist may not.
type waiterList struct{ first *waiter }

func (l *waiterList) push(w *waiter) {
	if l.first == nil {
		w.next, w.prev = w, w
		l.first = w
		return
	}
	w.next, w.prev = l.first, l.first.prev
	w.prev.next, w.next.prev = w, w
}

func (l *waiterList) remove(w *waiter) {
	if w.next == w {
		l.first = nil
	} else {
		w.prev.next, w.next.prev = w.next, w.prev
		if l.first == w {
			l.first = w.next
		}
	}
	w.next, w.prev = nil, nil
}

// signal wakes everybody on a list that no longer belongs to a future. A waiter is not touched after its send: its
// reader may have put it back into the pool by then.
func (l waiterList) signal() {
	w := l.first
	if w == nil {
		return
	}
	w.prev.next = nil
	for w != nil {
		next := w.next
		w.next, w.prev = nil, nil
		w.ch <- w.id
		w = next
	}
}

// enlist makes w wait; false if the future is done, and w will not be sent to.
func (f *Future[T]) enlist(w *waiter) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.IsDone() {
		return false
	}
	f.waiters.push(w)
	return true
}

// unlist takes back an enlist. False: the future is done, and w was sent to, or will be at once.
func (f *Future[T]) unlist(w *waiter) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.IsDone() {
		return false
	}
	f.waiters.remove(w)
	return true
}

// wait blocks until the future is done; false if ctx ended first.
func (f *Future[T]) wait(ctx context.Context) bool {
	if ctx.Err() != nil {
		return f.IsDone()
	}
	w := getWaiter()
	if f.enlist(w) {
		if _, ok := receive(ctx, w.ch); !ok {
			if f.unlist(w) {
				putWaiter(w)
				return false
			}
			// The send is on its way. Without taking it, it would wake the next user of w.
			<-w.ch
		}
	}
	putWaiter(w)
	return true
}

// receive waits for ch or the end of ctx; what is in ch goes first. A ctx that cannot end costs no select.
func receive(ctx context.Context, ch <-chan int) (int, bool) {
	done := ctx.Done()
	if done == nil {
		return <-ch, true
	}
	select {
	case i := <-ch:
		return i, true
	case <-done:
	}
	select {
	case i := <-ch:
		return i, true
	default:
		return 0, false
	}
}

var waiters = sync.Pool{New: func() any { return &waiter{ch: make(chan int, 1), pooled: true} }}

func getWaiter() *waiter {
	if inBubble() {
		return &waiter{ch: make(chan int, 1)}
	}
	return waiters.Get().(*waiter)
}

// putWaiter takes back a waiter that is on no list and has nothing in its channel.
func putWaiter(w *waiter) {
	if w.pooled {
		waiters.Put(w)
	}
}

// inBubble tells whether this goroutine runs in a testing/synctest bubble. A channel belongs to the bubble that made
// it: using it in another one kills the process, and one from outside does not let the bubble's clock run. So the pool
// is for outside only. There is no public question for this; that the bubble's clock has no monotonic reading, while
// the real one does, answers it, and a test of this package notices if that ever changes.
func inBubble() bool {
	t := time.Now()
	return t == t.Round(0)
}
