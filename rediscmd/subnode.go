package rediscmd

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"
)

const (
	firstRedial   = 50 * time.Millisecond
	slowestRedial = time.Second
)

// subNode is the subscriber's side of one node: what is wanted there, and the
// goroutine that sees to it.
type subNode struct {
	s    *Subscriber
	addr string
	kick chan struct{} // cap 1: there is something to do

	// guarded by s.mu
	wanted    []*channel      // idle, to be subscribed
	newcomers []*Subscription // joined a confirmed channel, to be told so
	linger    []*channel      // may be without listeners, in the order of their deadlines
	refused   []*channel      // the server said no, to be tried again at the next beat
	drop      []string        // moved to another node, to be unsubscribed
	link      *subLink        // the present connection
}

// want, greet, lingers and wake are called with s.mu held.
func (n *subNode) want(ch *channel) {
	n.wanted = append(n.wanted, ch)
	n.wake()
}

func (n *subNode) greet(sub *Subscription) {
	n.newcomers = append(n.newcomers, sub)
	n.wake()
}

// lingers needs no wake: the goroutine looks about at least every Timeout.
func (n *subNode) lingers(ch *channel) {
	if !ch.lingering {
		ch.lingering = true
		n.linger = append(n.linger, ch)
	}
}

func (n *subNode) wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// run keeps a connection as long as channels want one.
func (n *subNode) run() {
	delay := time.Duration(0)
	for n.needed() {
		started := time.Now()
		err := n.session()
		n.disconnected()
		if err == nil {
			delay = 0
			continue
		}
		level := slog.LevelDebug
		if delay == 0 || time.Since(started) > slowestRedial { // it had worked for a while
			delay, level = firstRedial, slog.LevelWarn
		} else {
			delay = min(2*delay, slowestRedial)
		}
		n.s.c.log(level, "rediscmd: subscription connection lost", "node", n.addr, "error", err)
		if n.s.c.topology != nil {
			n.s.c.topology.nudge()
		}
		if !n.sleep(delay/2 + rand.N(delay/2)) {
			return
		}
	}
}

// needed parks until a channel lives here; false: closed.
func (n *subNode) needed() bool {
	for {
		select {
		case <-n.s.stop:
			return false
		default:
		}
		n.reap(time.Now())
		if n.size() > 0 {
			return true
		}
		select {
		case <-n.kick:
		case <-n.s.stop:
			return false
		}
	}
}

func (n *subNode) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-n.s.stop:
		return false
	}
}

// size counts the channels of this node.
func (n *subNode) size() int {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	count := 0
	for _, ch := range n.s.channels {
		if ch.node == n {
			count++
		}
	}
	return count
}

// session is the life of one connection. It returns nil when no channel needs it or
// the subscriber was closed, else what ended it.
func (n *subNode) session() error {
	link := n.dial()
	n.connected(link)
	beat := n.s.c.cfg.Timeout
	timer := time.NewTimer(beat)
	defer timer.Stop()
	for {
		if err := n.settle(link); err != nil {
			return err
		}
		select {
		case <-n.kick:
			continue
		case err := <-link.ended:
			if err == nil {
				err = errors.New("connection closed")
			}
			return err
		case <-n.s.stop:
			return nil
		case <-timer.C:
		}
		timer.Reset(beat)
		if n.size() == 0 {
			return nil
		}
		n.retryRefused()
		if err := n.signOfLife(link, beat); err != nil {
			return err
		}
	}
}

// connected makes link the one that counts, and wants every channel on it.
func (n *subNode) connected(link *subLink) {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	n.link = link
	n.wanted, n.newcomers, n.refused, n.drop = nil, nil, nil, nil
	for _, ch := range n.s.channels {
		if ch.node == n {
			ch.state = channelIdle
			n.wanted = append(n.wanted, ch)
		}
	}
}

func (n *subNode) disconnected() {
	n.s.mu.Lock()
	link := n.link
	n.link = nil
	for _, ch := range n.s.channels {
		if ch.node == n {
			ch.state = channelIdle
		}
	}
	n.s.mu.Unlock()
	n.s.wg.Go(link.close) // rueidis waits up to a second for a silent server
}
