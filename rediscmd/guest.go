package rediscmd

import "time"

// A caller that waits for its own operation can carry it itself: to wake a worker,
// and to be woken by it, costs two switches between goroutines, which is half of a
// round trip on a fast network. Such a caller is the lane's guest:
//
//	Announce   an operation is about to be queued, and I shall come for it
//	Serve      if it is the only one, and nobody else is away: carry it
//
// Between the two a lone operation waits for the guest, so there must be nothing
// between them that blocks. With any other load the guest leaves everything to the
// workers. A guest has the time that a command may take, or is none: a command that
// was cut short would count as unknown, and cost others the connection.

// Guest is a caller between Announce and Serve.
type Guest struct{ lane *lane }

// Announce says that the caller is about to submit an operation on a name, will call
// Serve next, and only then wait for the reply, for as long as patience. With less
// than Config.Timeout it does nothing, and neither does Serve.
func (c *Client) Announce(name string, patience time.Duration) Guest {
	if patience < c.cfg.Timeout {
		return Guest{}
	}
	l := c.lanes.of(name)
	l.mu.Lock()
	l.coming++
	l.mu.Unlock()
	return Guest{l}
}

// Serve carries what is queued if it is a single operation, and returns when that is
// completed, at the latest when Config.Timeout has passed. Otherwise it returns at
// once. It must be called exactly once.
func (g Guest) Serve() {
	l := g.lane
	if l == nil {
		return
	}
	l.mu.Lock()
	l.coming--
	if l.queued() != 1 || l.away > 0 || l.home() > 0 || l.closed {
		l.call()
		l.mu.Unlock()
		return
	}
	w := l.spare
	if l.spare = nil; w == nil {
		w = &worker{lane: l}
	}
	l.workers++
	l.wg.Add(1)
	w.ops = l.leave(w.ops[:0])
	l.mu.Unlock()

	defer l.wg.Done()
	defer func() {
		w.home()
		l.mu.Lock()
		l.workers--
		l.spare = w
		l.call()
		l.mu.Unlock()
	}()
	w.carried = len(w.ops)
	w.batch()
}
