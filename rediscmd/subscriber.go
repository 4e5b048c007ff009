package rediscmd

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// Listener hears of a channel. Its methods are called on the subscriber's
// goroutines and rueidis' reader, never inside Subscribe or Close, possibly
// concurrently with each other. They must not block: every other channel of the
// node waits behind them.
type Listener interface {
	// Subscribed: messages arrive from now on; what was published before was
	// missed. Called when the server has confirmed the channel, again after every
	// reconnect, and soon after joining a channel that was confirmed before.
	Subscribed()
	// Message: something was published.
	Message(payload string)
}

// Subscriber shares subscriptions: one per channel however many listeners, on one
// connection per node. It is safe for concurrent use. Subscribing costs no
// goroutine; each node's connection has one.
//
// A connection that ends is made anew and every channel subscribed again. One that
// falls silent is asked for a sign of life after Config.Timeout, and given up on
// after another.
type Subscriber struct {
	c    *Client
	stop chan struct{} // closed by close
	wg   sync.WaitGroup

	mu       sync.Mutex
	channels map[string]*channel
	nodes    map[string]*subNode // by address; "" where there is only one
	closed   bool
}

// channel is one name's subscription; all fields are guarded by Subscriber.mu.
type channel struct {
	name      string
	listeners []*Subscription // replaced, never changed in place: deliveries read it unlocked
	node      *subNode
	state     channelState
	removed   bool
	refused   bool      // by the server, at least once
	lingering bool      // in node.linger
	until     time.Time // when it may go, if it has no listeners
}

type channelState uint8

const (
	channelIdle      channelState = iota // not asked for on the present connection
	channelAsked                         // SUBSCRIBE is on its way
	channelConfirmed                     // the server said yes
)

// Subscription is one listener on one channel.
type Subscription struct {
	s        *Subscriber
	ch       *channel // nil when the subscriber was closed
	listener Listener
	closed   bool // guarded by s.mu
}

func newSubscriber(c *Client) *Subscriber {
	return &Subscriber{c: c, stop: make(chan struct{}), channels: map[string]*channel{}, nodes: map[string]*subNode{}}
}

// Subscribe adds a listener to a channel. It never blocks; l hears Subscribed once
// the channel is confirmed, which may take as long as Redis is away. After Close of
// the client l hears nothing.
func (s *Subscriber) Subscribe(name string, l Listener) *Subscription {
	sub := &Subscription{s: s, listener: l}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		sub.closed = true
		return sub
	}
	ch := s.channels[name]
	if ch == nil {
		ch = &channel{name: name, node: s.node(s.c.lanes.addr(name))}
		s.channels[name] = ch
		ch.node.want(ch)
	} else if ch.state == channelConfirmed {
		ch.node.greet(sub)
	}
	sub.ch = ch
	ch.listeners = append(ch.listeners[:len(ch.listeners):len(ch.listeners)], sub)
	return sub
}

// Close takes the listener off the channel. It is idempotent and never blocks; a
// call that was already on its way may still reach the listener afterwards. A
// channel without listeners stays subscribed for Config.Linger.
func (sub *Subscription) Close() {
	s := sub.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub.closed {
		return
	}
	sub.closed = true
	ch := sub.ch
	rest := make([]*Subscription, 0, len(ch.listeners)-1)
	for _, other := range ch.listeners {
		if other != sub {
			rest = append(rest, other)
		}
	}
	ch.listeners = rest
	if len(rest) == 0 {
		ch.until = time.Now().Add(s.c.cfg.Linger)
		ch.node.lingers(ch)
	}
}

// Channels returns how many channels are subscribed or about to be, those that
// linger included.
func (s *Subscriber) Channels() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.channels)
}

// Confirmed reports whether the server has confirmed a subscription of this client
// to the channel, be it that somebody listens or that it lingers. Such a
// subscription is one of those that PUBSUB NUMSUB counts.
func (s *Subscriber) Confirmed(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[name]
	return ch != nil && ch.state == channelConfirmed
}

// node returns the connection to an address. Called with mu held.
func (s *Subscriber) node(addr string) *subNode {
	n := s.nodes[addr]
	if n == nil {
		n = &subNode{s: s, addr: addr, kick: make(chan struct{}, 1)}
		s.nodes[addr] = n
		s.wg.Go(n.run)
	}
	return n
}

// rehome moves channels whose slot has moved.
func (s *Subscriber) rehome() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, ch := range s.channels {
		addr := s.c.lanes.addr(ch.name)
		if addr == "" || addr == ch.node.addr {
			continue
		}
		if ch.state != channelIdle {
			ch.node.drop = append(ch.node.drop, ch.name)
			ch.node.wake()
		}
		ch.node, ch.state, ch.lingering = s.node(addr), channelIdle, false
		ch.node.want(ch)
		if len(ch.listeners) == 0 {
			ch.node.lingers(ch)
		}
	}
}

// confirmed and lost are what n's connection says about a channel.
func (s *Subscriber) confirmed(n *subNode, l *subLink, name string) {
	s.mu.Lock()
	ch := s.channels[name]
	if n.link != l || ch == nil || ch.node != n || ch.state == channelConfirmed {
		s.mu.Unlock()
		return // of a connection given up, or the answer to a sign of life
	}
	ch.state = channelConfirmed
	listeners := ch.listeners
	s.mu.Unlock()
	for _, sub := range listeners {
		s.tell(sub, nil)
	}
}

func (s *Subscriber) lost(n *subNode, l *subLink, name string) {
	s.mu.Lock()
	ch := s.channels[name]
	if n.link != l || ch == nil || ch.node != n || ch.state != channelConfirmed {
		s.mu.Unlock()
		return // we asked for it
	}
	// The server ended it by itself: the slot has moved.
	ch.state = channelIdle
	n.want(ch)
	s.mu.Unlock()
	if s.c.topology != nil {
		s.c.topology.nudge()
	}
}

func (s *Subscriber) message(m rueidis.PubSubMessage) {
	s.mu.Lock()
	var listeners []*Subscription
	if ch := s.channels[m.Channel]; ch != nil {
		listeners = ch.listeners
	}
	s.mu.Unlock()
	for _, sub := range listeners {
		s.tell(sub, &m.Message)
	}
}

// tell calls a listener, with no lock held: it may subscribe, close and submit.
func (s *Subscriber) tell(sub *Subscription, payload *string) {
	defer func() {
		if v := recover(); v != nil {
			s.c.log(slog.LevelError, "rediscmd: panic in a Listener", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if payload == nil {
		sub.listener.Subscribed()
	} else {
		sub.listener.Message(*payload)
	}
}

// close ends every connection and waits for their goroutines.
func (s *Subscriber) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	s.wg.Wait()
}
