package future

// call is one registered callback.
type call struct {
	run        func()
	next, prev *call
	queued     bool
}

// callQueue is the callbacks that have not started, in order of registration.
type callQueue struct{ first, last *call }

func (q *callQueue) push(c *call) {
	c.prev, c.queued = q.last, true
	if q.last == nil {
		q.first = c
	} else {
		q.last.next = c
	}
	q.last = c
}

func (q *callQueue) remove(c *call) {
	if c.prev == nil {
		q.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		q.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.next, c.prev, c.queued = nil, nil, false
}

// OnComplete has fn called once with the outcome, when it is there. A success value counts as claimed when it is
// handed to fn, not before: if the future is canceled until then, fn sees the error.
//
// fn runs on a goroutine of its own future, never on the one that settles or the one that registers, after the
// callbacks registered before it; it may block, and then delays those registered after it. A panic in fn goes to the
// handler of [SetPanicHandler].
//
// stop reports whether it kept fn from running: false if fn has started, has run, or was stopped before. It does not
// wait for fn. OnComplete panics if fn is nil.
func (f *Future[T]) OnComplete(fn func(T, error)) (stop func() bool) {
	if fn == nil {
		panic("future: OnComplete(nil)")
	}
	c := f.onDone(func() {
		defer reportPanic()
		v, _, _, err := f.take()
		fn(v, err)
	})
	return func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !c.queued {
			return false
		}
		f.rare.calls.remove(c)
		return true
	}
}

// onDone queues run, which claims nothing by itself, and returns its place in the queue.
func (f *Future[T]) onDone(run func()) *call {
	c := &call{run: run}
	f.mu.Lock()
	r := f.more()
	r.calls.push(c)
	start := f.IsDone() && !r.draining
	if start {
		r.draining = true
	}
	f.mu.Unlock()
	if start {
		go f.drain()
	}
	return c
}

// drain runs the callbacks of a future that is done, one after the other; there is one drain at a time.
func (f *Future[T]) drain() {
	finished := false
	defer func() {
		if !finished { // a callback called runtime.Goexit: the others want a goroutine too
			go f.drain()
		}
	}()
	for {
		f.mu.Lock()
		c := f.rare.calls.first
		if c == nil {
			f.rare.draining = false
			f.mu.Unlock()
			finished = true
			return
		}
		f.rare.calls.remove(c)
		f.mu.Unlock()
		c.run()
	}
}
