package redistest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
)

// Bubble is an in-memory Redis inside a synctest bubble. Keys age with the bubble's
// clock, connections are pipes, and faults are switched on and off. Call NewBubble
// inside synctest.Test; everything it made is closed when the test ends.
//
// Its clients speak RESP2, since miniredis mixes up subscriptions with RESP3, and
// it runs no sharded pub/sub, ACLs, CLIENT or CONFIG commands: those are for Start.
type Bubble struct {
	mini *miniredis.Miniredis

	mu    sync.Mutex
	conns map[*bubbleConn]bool
	fault Fault
}

// Fault is what happens on the bubble's connections.
type Fault uint8

const (
	// NoFault: everything passes.
	NoFault Fault = iota
	// DropRequests: nothing arrives at the server, silently.
	DropRequests
	// DropReplies: requests are executed, nothing comes back.
	DropReplies
	// RefuseDials: existing connections work, new ones are refused.
	RefuseDials
)

// NewBubble starts the server.
func NewBubble(tb testing.TB) *Bubble {
	tb.Helper()
	b := &Bubble{mini: miniredis.NewMiniRedis(), conns: map[*bubbleConn]bool{}}
	b.mini.ClockTTL(true)
	tb.Cleanup(func() {
		b.Cut()
		b.mini.Close()
		time.Sleep(2 * time.Second) // both ends see it while the bubble's clock still runs
		synctest.Wait()
	})
	return b
}

// Mini returns the server itself, for a look behind the scenes. SetError makes it
// answer every command with an error.
func (b *Bubble) Mini() *miniredis.Miniredis { return b.mini }

// Option returns what a client needs to reach the server. A silent connection is
// given up after about two seconds of bubble time.
func (b *Bubble) Option() rueidis.ClientOption {
	o := option("bubble:6379")
	o.AlwaysRESP2 = true
	o.PipelineMultiplex = -1 // one connection: a fault then meets the command, not a handshake
	o.DialCtxFn = func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) { return b.dial() }
	return o
}

// Client connects with Option, changed by mods, and is closed when the test ends.
func (b *Bubble) Client(tb testing.TB, mods ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	o := b.Option()
	for _, mod := range mods {
		mod(&o)
	}
	c, err := rueidis.NewClient(o)
	if err != nil {
		tb.Fatalf("redistest: connect: %v", err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Advance lets d of bubble time pass, keys' leases included, and returns when
// everything that it set off has come to rest.
func (b *Bubble) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// SetFault switches the fault. A connection that has lost something stays lost
// until the fault ends, when it is cut: TCP loses a byte only with all that follow.
func (b *Bubble) SetFault(f Fault) {
	b.mu.Lock()
	b.fault = f
	var lost []*bubbleConn
	for c := range b.conns {
		if c.lost && f != DropRequests && f != DropReplies {
			lost = append(lost, c)
		}
	}
	b.mu.Unlock()
	for _, c := range lost {
		c.Close()
	}
}

// Cut closes every connection.
func (b *Bubble) Cut() {
	b.mu.Lock()
	all := make([]*bubbleConn, 0, len(b.conns))
	for c := range b.conns {
		all = append(all, c)
	}
	b.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}

// Conns returns the number of open connections.
func (b *Bubble) Conns() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}

func (b *Bubble) dial() (net.Conn, error) {
	b.mu.Lock()
	refuse := b.fault == RefuseDials
	b.mu.Unlock()
	if refuse {
		return nil, &net.OpError{Op: "dial", Net: "bubble", Err: errors.New("connection refused")}
	}
	conn, err := b.mini.Dial()
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "bubble", Err: err}
	}
	c := &bubbleConn{Conn: conn, b: b}
	b.mu.Lock()
	b.conns[c] = true
	b.mu.Unlock()
	return c, nil
}

// bubbleConn is the client's end of a connection.
type bubbleConn struct {
	net.Conn
	b    *Bubble
	lost bool // guarded by b.mu: something was dropped
}

// drops reports whether the connection loses what travels in the direction of f.
func (c *bubbleConn) drops(f Fault) bool {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	if c.b.fault == f {
		c.lost = true
	}
	// What was lost once: nothing more arrives here, and nothing more is answered.
	return c.lost && (f == DropReplies || c.b.fault == f)
}

func (c *bubbleConn) Write(p []byte) (int, error) {
	if c.drops(DropRequests) {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *bubbleConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.drops(DropReplies) {
			return n, err
		}
	}
}

func (c *bubbleConn) Close() error {
	c.b.mu.Lock()
	delete(c.b.conns, c)
	c.b.mu.Unlock()
	return c.Conn.Close()
}
