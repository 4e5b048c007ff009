package redistest

import (
	"net"
	"sync"
	"testing"
)

// Proxy stands between a client and a server on loopback, and does to their
// connections what a network can.
type Proxy struct {
	upstream string
	listener net.Listener
	wg       sync.WaitGroup

	mu    sync.Mutex
	cond  *sync.Cond // mode changed, or closed
	mode  Mode
	pipes map[*proxyPipe]bool
	done  bool
}

// Mode is what a Proxy does with data.
type Mode uint8

const (
	// Pass forwards everything.
	Pass Mode = iota
	// Blackhole swallows everything in both directions; connections stay open.
	Blackhole
	// SwallowReplies forwards requests and swallows what comes back.
	SwallowReplies
	// Hold keeps data in both directions until the mode changes.
	Hold
	// HoldReplies forwards requests and keeps what comes back.
	HoldReplies
)

// proxyPipe is one client connection and its upstream.
type proxyPipe struct {
	client, server net.Conn
	lost           bool // guarded by Proxy.mu: something was swallowed
}

// NewProxy listens on a free loopback port and forwards to upstream. It is closed
// when the test ends.
func NewProxy(tb testing.TB, upstream string) *Proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{upstream: upstream, listener: l, pipes: map[*proxyPipe]bool{}}
	p.cond = sync.NewCond(&p.mu)
	p.wg.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Addr returns the address to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetMode changes what happens from now on. Held data is delivered when the mode
// becomes Pass. A connection that has lost something is cut then, since what
// follows a loss would be taken for an answer to something else.
func (p *Proxy) SetMode(m Mode) {
	p.mu.Lock()
	p.mode = m
	p.cond.Broadcast()
	var lost []*proxyPipe
	for pipe := range p.pipes {
		if pipe.lost && m == Pass {
			lost = append(lost, pipe)
		}
	}
	p.mu.Unlock()
	for _, pipe := range lost {
		pipe.close()
	}
}

// Release is SetMode(Pass): held data is delivered.
func (p *Proxy) Release() { p.SetMode(Pass) }

// Cut closes every connection; new ones are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	all := make([]*proxyPipe, 0, len(p.pipes))
	for pipe := range p.pipes {
		all = append(all, pipe)
	}
	p.mu.Unlock()
	for _, pipe := range all {
		pipe.close()
	}
}

// Conns returns the number of open client connections.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pipes)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.upstream)
		if err != nil {
			client.Close()
			continue
		}
		pipe := &proxyPipe{client: client, server: server}
		p.mu.Lock()
		if p.done {
			p.mu.Unlock()
			pipe.close()
			return
		}
		p.pipes[pipe] = true
		p.mu.Unlock()
		p.wg.Go(func() { p.copy(pipe, server, client, false) })
		p.wg.Go(func() { p.copy(pipe, client, server, true) })
	}
}

// copy moves one direction's data until either end closes.
func (p *Proxy) copy(pipe *proxyPipe, dst, src net.Conn, replies bool) {
	defer func() {
		pipe.close()
		p.mu.Lock()
		delete(p.pipes, pipe)
		p.mu.Unlock()
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if err != nil {
			return
		}
		if !p.passes(pipe, replies) {
			continue
		}
		if _, err := dst.Write(buf[:n]); err != nil {
			return
		}
	}
}

// passes waits while data is held, and reports whether it goes on.
func (p *Proxy) passes(pipe *proxyPipe, replies bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.done && (p.mode == Hold || p.mode == HoldReplies && replies) {
		p.cond.Wait()
	}
	if p.mode == Blackhole || p.mode == SwallowReplies && replies {
		pipe.lost = true
	}
	return !pipe.lost || !replies && p.mode == SwallowReplies
}

func (p *Proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.done = true
	p.cond.Broadcast()
	p.mu.Unlock()
	p.Cut()
	p.wg.Wait()
}

func (pipe *proxyPipe) close() {
	pipe.client.Close()
	pipe.server.Close()
}
