package rediscmd

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// After a MOVED rueidis sleeps up to a second before it reads the slots again,
		// and does not wake for Close. It ends by itself.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

// newClient makes a Client that is closed before the rueidis client under it.
func newClient(tb testing.TB, cfg Config) *Client {
	tb.Helper()
	c, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return c
}

// call is one operation that a test waits for.
type call struct {
	op   Op
	done chan struct{}
}

func newCall() *call { return &call{done: make(chan struct{}, 1)} }

func (c *call) Completed(*Op) { c.done <- struct{}{} }

// wait fails the test when no completion comes: a hang must not look like slowness.
func (c *call) wait(tb testing.TB) Reply {
	tb.Helper()
	select {
	case <-c.done:
		return c.op.Reply
	case <-time.After(30 * time.Second):
		tb.Fatal("never completed")
		return Reply{}
	}
}

// caller runs doors one at a time.
type caller struct {
	tb testing.TB
	d  Mutex
}

func (c caller) acquire(a AcquireArgs) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.Acquire(&w.op, w, a)
	return w.wait(c.tb)
}

func (c caller) release(a ReleaseArgs) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.Release(&w.op, w, a)
	return w.wait(c.tb)
}

func (c caller) handOff(a HandOffArgs) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.HandOff(&w.op, w, a)
	return w.wait(c.tb)
}

func (c caller) extend(a ExtendArgs) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.Extend(&w.op, w, a)
	return w.wait(c.tb)
}

func (c caller) force(name string) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.Force(&w.op, w, name)
	return w.wait(c.tb)
}

func (c caller) check(name string, owner Owner) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.Check(&w.op, w, name, owner)
	return w.wait(c.tb)
}

func (c caller) inspect(name string) Reply {
	c.tb.Helper()
	w := newCall()
	c.d.Inspect(&w.op, w, name)
	return w.wait(c.tb)
}

// renewed is one call of Renewed.
type renewed struct {
	items []*Renewal
	reply Reply
}

type renewWaiter struct{ ch chan renewed }

func (r renewWaiter) Renewed(items []*Renewal, reply Reply) { r.ch <- renewed{items, reply} }

// renew returns the calls of Renewed, once all items are back.
func (c caller) renew(items []*Renewal) []renewed {
	c.tb.Helper()
	return c.renewFor(lease, items)
}

func (c caller) renewFor(lease time.Duration, items []*Renewal) []renewed {
	c.tb.Helper()
	w := renewWaiter{make(chan renewed, len(items))}
	c.d.Renew(lease, "", items, w)
	var calls []renewed
	for back := 0; back < len(items); {
		select {
		case r := <-w.ch:
			calls = append(calls, r)
			back += len(r.items)
		case <-time.After(30 * time.Second):
			c.tb.Fatalf("%d of %d renewals came back", back, len(items))
		}
	}
	return calls
}

// realServer is a server, a Client on it, and a caller.
func realServer(tb testing.TB, args ...string) (*redistest.Server, *Client, caller) {
	tb.Helper()
	srv := redistest.Start(tb, args...)
	c := newClient(tb, Config{Client: srv.Client(tb)})
	return srv, c, caller{tb, c.Mutex()}
}

// ear is a Listener that remembers what it heard.
type ear struct {
	mu     sync.Mutex
	events []string
	more   chan struct{}
}

const subscribedEvent = "subscribed"

func newEar() *ear { return &ear{more: make(chan struct{}, 1)} }

func (e *ear) Subscribed()      { e.add(subscribedEvent) }
func (e *ear) Message(p string) { e.add("message " + p) }
func (e *ear) add(s string) {
	e.mu.Lock()
	e.events = append(e.events, s)
	e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
}

func (e *ear) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.events)
}

// count returns how often s was heard.
func (e *ear) count(s string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, ev := range e.events {
		if ev == s {
			n++
		}
	}
	return n
}

// waitFor waits until s was heard n times.
func (e *ear) waitFor(tb testing.TB, s string, n int) {
	tb.Helper()
	deadline := time.After(30 * time.Second)
	for e.count(s) < n {
		select {
		case <-e.more:
		case <-deadline:
			e.mu.Lock()
			defer e.mu.Unlock()
			tb.Fatalf("heard %v, wanted %q %d times", e.events, s, n)
		}
	}
}

// eventually polls a condition that no event announces.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	tb.Fatalf("never: %s", what)
}

func resp2(o *rueidis.ClientOption) { o.AlwaysRESP2 = true }
