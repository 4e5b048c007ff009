package actors

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/telemetry"
)

// notifier runs user code about losses (the OnLost hook, the logger) off the
// actors: in order, on one goroutine that exists only while there is something
// to tell. A hook that blocks delays other notices and nothing else.
type notifier struct {
	mu     sync.Mutex
	queue  []func()
	active bool
	done   chan struct{} // closed when the queue ran dry
}

func (n *notifier) tell(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue = append(n.queue, f)
	if !n.active {
		n.active, n.done = true, make(chan struct{})
		go n.run()
	}
}

func (n *notifier) run() {
	dry := false
	defer func() {
		if !dry { // a hook called runtime.Goexit: the next notice wants a goroutine too
			go n.run()
		}
	}()
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.active, dry = false, true
			close(n.done)
			n.mu.Unlock()
			return
		}
		f := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		f()
	}
}

// wait returns when nothing is left to tell, or when ctx ends.
func (n *notifier) wait(ctx context.Context) {
	n.mu.Lock()
	active, done := n.active, n.done
	n.mu.Unlock()
	if !active {
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// tellLost reports a loss: the metric at once, the log line and the hook on the
// notifier. A panic in either is logged and goes no further.
func (s *System) tellLost(h *Hold, reason string) {
	info := LostInfo{Name: h.Name(), Owner: h.owner, Count: h.Count(), Reason: reason}
	if reason == lossExpired {
		info.Err = h.tenure.watch.lastTrouble()
	}
	s.tel.Lost(telemetry.Loss{Kind: h.key.kind.Name, Name: info.Name, Owner: h.owner.String(), Reason: reason})
	s.notes.tell(func() {
		defer func() {
			if v := recover(); v != nil {
				s.log.Error("holdfast: panic in OnLost", "panic", v)
			}
		}()
		s.log.WarnContext(h.parent, "holdfast: lock lost", "hold", h, "reason", reason, "error", info.Err)
		if s.onLost != nil {
			s.onLost(info)
		}
	})
}
