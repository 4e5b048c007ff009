package rediscmd

import (
	"log/slog"
	"time"
)

// maxSubscribe is the most channels in one SUBSCRIBE.
const maxSubscribe = 256

// settle does what has come up: unsubscribes, subscribes, greets.
func (n *subNode) settle(link *subLink) error {
	if err := link.unsubscribe(n.reap(time.Now())); err != nil {
		return err
	}
	for {
		names := n.takeWanted()
		if len(names) == 0 {
			break
		}
		if err := n.subscribe(link, names); err != nil {
			return err
		}
	}
	n.s.mu.Lock()
	newcomers := n.newcomers
	n.newcomers = nil
	n.s.mu.Unlock()
	for _, sub := range newcomers {
		n.s.mu.Lock()
		tell := !sub.closed && sub.ch.state == channelConfirmed
		n.s.mu.Unlock()
		if tell { // else the confirmation to come reaches it
			n.s.tell(sub, nil)
		}
	}
	return nil
}

// reap forgets the channels whose time is up and returns what to unsubscribe.
func (n *subNode) reap(now time.Time) []string {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	names := n.drop
	n.drop = nil
	for len(n.linger) > 0 {
		ch := n.linger[0]
		stays := len(ch.listeners) > 0 || ch.removed || ch.node != n
		if !stays && now.Before(ch.until) {
			break
		}
		n.linger[0] = nil
		n.linger = n.linger[1:]
		if ch.node == n {
			ch.lingering = false
		}
		if stays {
			continue
		}
		ch.removed = true
		delete(n.s.channels, ch.name)
		if ch.state != channelIdle {
			names = append(names, ch.name)
		}
	}
	return names
}

// takeWanted marks a batch of channels as asked for.
func (n *subNode) takeWanted() []string {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	var names []string
	for len(n.wanted) > 0 && len(names) < maxSubscribe {
		ch := n.wanted[0]
		n.wanted[0] = nil
		n.wanted = n.wanted[1:]
		if ch.removed || ch.node != n || ch.state != channelIdle {
			continue
		}
		ch.state = channelAsked
		names = append(names, ch.name)
	}
	return names
}

// subscribe asks for channels. The confirmations come through the link's hooks.
// When the server refuses a batch, each is asked for alone, so that a channel
// nobody may hear does not deafen the others.
func (n *subNode) subscribe(link *subLink, names []string) error {
	err := link.subscribe(names)
	redisErr, refused := asRedisError(err)
	if !refused {
		return err
	}
	if len(names) > 1 {
		for _, name := range names {
			if err := n.subscribe(link, []string{name}); err != nil {
				return err
			}
		}
		return nil
	}
	if n.s.c.topology != nil {
		n.s.c.topology.noticed(redisErr)
	}
	n.s.mu.Lock()
	ch := n.s.channels[names[0]]
	first := ch != nil && ch.node == n && !ch.refused
	if ch != nil && ch.node == n {
		ch.refused = true
		n.refused = append(n.refused, ch)
	}
	n.s.mu.Unlock()
	if first {
		n.s.c.log(slog.LevelWarn, "rediscmd: channel refused", "channel", names[0], "error", redisErr)
	}
	return nil
}

// retryRefused wants the refused channels again: rights change, and so do slots.
func (n *subNode) retryRefused() {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	for _, ch := range n.refused {
		if !ch.removed && ch.node == n && ch.state == channelAsked {
			ch.state = channelIdle
			n.wanted = append(n.wanted, ch)
		}
	}
	n.refused = nil
}

// signOfLife subscribes once more to a channel if nothing was heard for a while.
// Any node answers that, on any protocol, and it also finds out when the slot has
// moved. PING would not do: with RESP2 rueidis sends it down another connection.
func (n *subNode) signOfLife(link *subLink, silence time.Duration) error {
	if link.silent() < silence {
		return nil
	}
	n.s.mu.Lock()
	var name string
	for _, ch := range n.s.channels {
		if ch.node == n && ch.state == channelConfirmed {
			name = ch.name
			break
		}
	}
	n.s.mu.Unlock()
	if name == "" {
		return nil
	}
	err := link.subscribe([]string{name})
	if _, refused := asRedisError(err); refused {
		n.s.lost(n, link, name)
		return nil
	}
	return err
}
