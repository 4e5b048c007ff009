package rediscmd

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// subLink is one dedicated connection, used by one goroutine, with rueidis' reader
// calling its hooks. With RESP3 it is one socket; with RESP2 rueidis opens a second
// one for the subscriptions.
type subLink struct {
	c     *Client
	conn  rueidis.DedicatedClient
	ended <-chan error // rueidis sends or closes when the connection is over
	last  atomic.Pointer[time.Time]
}

// heard notes that the server is alive.
func (l *subLink) heard() {
	now := time.Now()
	l.last.Store(&now)
}

func (l *subLink) silent() time.Duration { return time.Since(*l.last.Load()) }

// subscribe returns when the server has answered, which is before or while the
// hooks hear of the single channels. Sharded channels of different slots cannot
// share a command.
func (l *subLink) subscribe(names []string) error {
	ctx, cancel := l.c.timeout()
	defer cancel()
	if !l.c.Sharded() {
		return l.conn.Do(ctx, l.conn.B().Subscribe().Channel(names...).Build()).Error()
	}
	cmds := make([]rueidis.Completed, len(names))
	for i, name := range names {
		cmds[i] = l.conn.B().Ssubscribe().Channel(name).Build()
	}
	return firstError(l.conn.DoMulti(ctx, cmds...))
}

func (l *subLink) unsubscribe(names []string) error {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := l.c.timeout()
	defer cancel()
	if !l.c.Sharded() {
		return l.conn.Do(ctx, l.conn.B().Unsubscribe().Channel(names...).Build()).Error()
	}
	cmds := make([]rueidis.Completed, len(names))
	for i, name := range names {
		cmds[i] = l.conn.B().Sunsubscribe().Channel(name).Build()
	}
	return firstError(l.conn.DoMulti(ctx, cmds...))
}

// firstError prefers a broken connection to a refusal.
func firstError(results []rueidis.RedisResult) error {
	var refused error
	for _, r := range results {
		err := r.Error()
		if _, ok := asRedisError(err); !ok && err != nil {
			return err
		}
		if refused == nil {
			refused = err
		}
	}
	return refused
}

func (l *subLink) close() { l.conn.Close() }

// dial takes a dedicated connection. Failures show in its first command.
func (n *subNode) dial() *subLink {
	client := n.s.c.cfg.Client
	if n.s.c.cfg.Cluster {
		client = pickNode(client, n.addr)
	}
	link := &subLink{c: n.s.c}
	link.conn, _ = client.Dedicate()
	link.heard()
	link.ended = link.conn.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage: func(m rueidis.PubSubMessage) {
			link.heard()
			n.s.message(m)
		},
		OnSubscription: func(p rueidis.PubSubSubscription) {
			link.heard()
			switch p.Kind {
			case "subscribe", "ssubscribe":
				n.s.confirmed(n, link, p.Channel)
			case "unsubscribe", "sunsubscribe":
				n.s.lost(n, link, p.Channel)
			}
		},
	})
	return link
}

// pickNode returns the client of a cluster node, or of any when that one is gone:
// its channels are then refused with MOVED, and moved.
func pickNode(client rueidis.Client, addr string) rueidis.Client {
	nodes := client.Nodes()
	if node := nodes[addr]; node != nil {
		return node
	}
	for _, node := range nodes {
		return node
	}
	return client
}

func (c *Client) timeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), c.cfg.Timeout)
}
