package rediscmd

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Both protocols on a real server: they differ in what rueidis does underneath.
func onBothProtocols(t *testing.T, test func(t *testing.T, mods ...func(*rueidis.ClientOption))) {
	t.Run("RESP3", func(t *testing.T) { test(t) })
	t.Run("RESP2", func(t *testing.T) { test(t, resp2) })
}

// wireSubscriber collects payloads with plain rueidis, as another program would.
func wireSubscriber(t *testing.T, srv *redistest.Server, channel string) (payloads <-chan string) {
	t.Helper()
	client := srv.Client(t)
	ch := make(chan string, 100)
	ready := make(chan struct{})
	var once sync.Once
	ctx, cancel := context.WithCancel(context.Background())
	ctx = rueidis.WithOnSubscriptionHook(ctx, func(rueidis.PubSubSubscription) { once.Do(func() { close(ready) }) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = client.Receive(ctx, client.B().Subscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) { ch <- m.Message })
	}()
	t.Cleanup(func() { cancel(); <-done })
	<-ready
	return ch
}

func TestWhatOthersSeeOnTheWire(t *testing.T) {
	srv, _, c := realServer(t)
	heard := wireSubscriber(t, srv, "redisson_lock__channel:{order:42}")
	owner, next := Owner{"71b96ce8-2746-4b0e-9a56-0e2f5c6c1a11", 46}, Owner{"71b96ce8-2746-4b0e-9a56-0e2f5c6c1a11", 461}
	if r := c.acquire(AcquireArgs{Name: "order:42", Owner: owner, Lease: lease, Level: 1}); r.Verdict != Granted {
		t.Fatalf("%+v", r)
	}
	hash, err := srv.MustDo("HGETALL", "order:42").AsStrMap()
	if err != nil || len(hash) != 1 || hash["71b96ce8-2746-4b0e-9a56-0e2f5c6c1a11:46"] != "1" {
		t.Errorf("hash %v, %v", hash, err)
	}
	if ms, err := srv.MustDo("PTTL", "order:42").AsInt64(); err != nil || ms <= 0 || ms > lease.Milliseconds() {
		t.Errorf("PTTL %d, %v", ms, err)
	}
	ends := []func() Reply{
		func() Reply { return c.release(ReleaseArgs{Name: "order:42", Owner: owner}) },
		func() Reply { return c.force("order:42") },
		func() Reply {
			return c.handOff(HandOffArgs{Name: "order:42", From: owner, To: next, Lease: lease, Yield: YieldAlways})
		},
	}
	for i, end := range ends {
		c.acquire(AcquireArgs{Name: "order:42", Owner: owner, Lease: lease, Level: 1})
		if r := end(); r.Outcome != OutcomeDone {
			t.Fatalf("end %d: %+v", i, r)
		}
		select {
		case payload := <-heard:
			if payload != "0" {
				t.Errorf("end %d: published %q", i, payload)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("end %d: nothing published", i)
		}
	}
	// What frees nothing tells nobody: the next payload is the marker's.
	c.release(ReleaseArgs{Name: "order:42", Owner: owner})
	c.force("order:42")
	c.acquire(AcquireArgs{Name: "order:42", Owner: owner, Lease: lease, Level: 1})
	c.acquire(AcquireArgs{Name: "order:42", Owner: owner, Lease: lease, Level: 2})
	c.release(ReleaseArgs{Name: "order:42", Owner: owner, Level: 1, Lease: lease})
	c.handOff(HandOffArgs{Name: "order:42", From: owner, To: next, Lease: lease})
	srv.MustDo("PUBLISH", "redisson_lock__channel:{order:42}", "marker")
	if payload := <-heard; payload != "marker" {
		t.Errorf("published %q", payload)
	}
	keys, err := srv.MustDo("KEYS", "*").AsStrSlice()
	if err != nil || fmt.Sprint(keys) != "[order:42]" {
		t.Errorf("keys left: %v %v", keys, err)
	}
}

func TestSubscribeHearsAndShares(t *testing.T) {
	onBothProtocols(t, func(t *testing.T, mods ...func(*rueidis.ClientOption)) {
		srv := redistest.Start(t)
		c := newClient(t, Config{Client: srv.Client(t, mods...)})
		s := c.Subscriber()
		first := newEar()
		sub := s.Subscribe("ch", first)
		first.waitFor(t, subscribedEvent, 1)
		if !s.Confirmed("ch") || s.Confirmed("other") {
			t.Error("confirmed: wrong")
		}
		second := newEar() // joins what is confirmed already
		sub2 := s.Subscribe("ch", second)
		second.waitFor(t, subscribedEvent, 1)
		if n := numSub(t, srv, "ch"); n != 1 {
			t.Errorf("server counts %d subscriptions", n)
		}
		srv.MustDo("PUBLISH", "ch", "0")
		first.waitFor(t, "message 0", 1)
		second.waitFor(t, "message 0", 1)

		sub.Close()
		sub.Close()
		srv.MustDo("PUBLISH", "ch", "1")
		second.waitFor(t, "message 1", 1)
		if first.count("message 1") != 0 || first.count(subscribedEvent) != 1 || second.count(subscribedEvent) != 1 {
			t.Errorf("heard %v and %v", first.heard(), second.heard())
		}
		sub2.Close()
	})
}

func numSub(t *testing.T, srv *redistest.Server, channel string) int64 {
	t.Helper()
	reply, err := srv.MustDo("PUBSUB", "NUMSUB", channel).ToArray()
	if err != nil {
		t.Fatal(err)
	}
	n, err := reply[1].AsInt64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestManyChannelsOnOneConnection(t *testing.T) {
	onBothProtocols(t, func(t *testing.T, mods ...func(*rueidis.ClientOption)) {
		srv := redistest.Start(t)
		c := newClient(t, Config{Client: srv.Client(t, mods...), Linger: time.Millisecond, Timeout: 200 * time.Millisecond})
		s := c.Subscriber()
		before := runtime.NumGoroutine()
		const n = 2000
		ears := make([]*ear, n)
		subs := make([]*Subscription, n)
		for i := range n {
			ears[i] = newEar()
			subs[i] = s.Subscribe(fmt.Sprintf("ch%d", i), ears[i])
		}
		for _, e := range ears {
			e.waitFor(t, subscribedEvent, 1)
		}
		if grown := runtime.NumGoroutine() - before; grown > 50 {
			t.Errorf("%d goroutines for %d channels", grown, n)
		}
		list, err := srv.MustDo("CLIENT", "LIST", "TYPE", "pubsub").ToString()
		if err != nil || strings.Count(list, "\n") != 1 || !strings.Contains(list, fmt.Sprintf(" sub=%d ", n)) {
			t.Errorf("pubsub connections:\n%s%v", list, err)
		}
		for i := range n {
			srv.MustDo("PUBLISH", fmt.Sprintf("ch%d", i), "0")
		}
		for _, e := range ears {
			e.waitFor(t, "message 0", 1)
		}
		for _, sub := range subs[1:] {
			sub.Close()
		}
		eventually(t, "unsubscribed", func() bool { return s.Channels() == 1 && numSub(t, srv, "ch1") == 0 })
		if numSub(t, srv, "ch0") != 1 {
			t.Error("the channel in use is gone too")
		}
		subs[0].Close()
		eventually(t, "connection closed", func() bool {
			list, err := srv.MustDo("CLIENT", "LIST", "TYPE", "pubsub").ToString()
			return err == nil && !strings.Contains(list, "id=")
		})
		again := newEar() // and made anew
		sub := s.Subscribe("ch0", again)
		again.waitFor(t, subscribedEvent, 1)
		sub.Close()
	})
}

func TestLostConnectionIsMadeAnew(t *testing.T) {
	onBothProtocols(t, func(t *testing.T, mods ...func(*rueidis.ClientOption)) {
		srv := redistest.Start(t)
		c := newClient(t, Config{Client: srv.Client(t, mods...), Timeout: 300 * time.Millisecond})
		one, two := newEar(), newEar()
		defer c.Subscriber().Subscribe("one", one).Close()
		defer c.Subscriber().Subscribe("two", two).Close()
		heard := func(round int) {
			t.Helper()
			for name, e := range map[string]*ear{"one": one, "two": two} {
				e.waitFor(t, subscribedEvent, round)
				payload := fmt.Sprint(round)
				srv.MustDo("PUBLISH", name, payload)
				e.waitFor(t, "message "+payload, 1)
			}
		}
		heard(1)
		srv.MustDo("CLIENT", "KILL", "TYPE", "pubsub")
		heard(2)
		srv.Restart()
		heard(3)
		srv.Pause() // silent, not closed
		eventually(t, "given up", func() bool { return !c.Subscriber().Confirmed("one") })
		srv.Resume()
		heard(4)
		srv.Kill()
		eventually(t, "noticed", func() bool { return !c.Subscriber().Confirmed("one") })
		late := newEar()
		defer c.Subscriber().Subscribe("late", late).Close()
		srv.Restart()
		heard(5)
		late.waitFor(t, subscribedEvent, 1)
	})
}

func TestSilentConnectionIsNoticed(t *testing.T) {
	srv := redistest.Start(t)
	proxy := redistest.NewProxy(t, srv.Addr())
	client := srv.Client(t, func(o *rueidis.ClientOption) {
		o.InitAddress = []string{proxy.Addr()}
		o.ConnWriteTimeout = time.Hour // rueidis itself would not notice
		o.Dialer.KeepAlive = time.Hour
	})
	c := newClient(t, Config{Client: client, Timeout: 200 * time.Millisecond})
	e := newEar()
	defer c.Subscriber().Subscribe("ch", e).Close()
	e.waitFor(t, subscribedEvent, 1)
	proxy.SetMode(redistest.Blackhole)
	eventually(t, "given up", func() bool { return !c.Subscriber().Confirmed("ch") })
	proxy.SetMode(redistest.Pass)
	e.waitFor(t, subscribedEvent, 2)
	srv.MustDo("PUBLISH", "ch", "0")
	e.waitFor(t, "message 0", 1)
}

func TestForbiddenChannelDeafensNobody(t *testing.T) {
	srv := redistest.Start(t)
	c := user(t, srv, "u", "~*", "&ok*", "+@all").d.c
	c.cfg.Timeout = 100 * time.Millisecond // read by the subscriber, which has not started
	ears := map[string]*ear{}
	for _, name := range []string{"ok1", "forbidden", "ok2"} {
		ears[name] = newEar()
		defer c.Subscriber().Subscribe(name, ears[name]).Close()
	}
	ears["ok1"].waitFor(t, subscribedEvent, 1)
	ears["ok2"].waitFor(t, subscribedEvent, 1)
	if ears["forbidden"].count(subscribedEvent) != 0 {
		t.Error("heard a forbidden channel")
	}
	// Redis ends a user's connections only when rights are taken away, not here.
	srv.MustDo("ACL", "SETUSER", "u", "&forbidden")
	ears["forbidden"].waitFor(t, subscribedEvent, 1)
}

// With the bubble's clock.

func TestLingerAndSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Linger: 10 * time.Second})
		s := c.Subscriber()
		e := newEar()
		sub := s.Subscribe("ch", e)
		synctest.Wait()
		b.Advance(time.Hour) // asked for signs of life, which are no confirmations
		if e.count(subscribedEvent) != 1 {
			t.Fatalf("heard %v", e.heard())
		}
		sub.Close()
		b.Advance(9 * time.Second)
		if !s.Confirmed("ch") {
			t.Fatal("gone before its time")
		}
		again := newEar() // comes back in time: no new subscription
		sub = s.Subscribe("ch", again)
		b.Advance(time.Minute)
		if again.count(subscribedEvent) != 1 || s.Channels() != 1 {
			t.Fatalf("heard %v, %d channels", again.heard(), s.Channels())
		}
		sub.Close()
		b.Advance(9 * time.Second)
		if s.Channels() != 1 {
			t.Error("the second linger was cut short by the first")
		}
		b.Advance(3 * time.Second) // a beat of a second rounds it up
		if s.Channels() != 0 || s.Confirmed("ch") {
			t.Error("still subscribed")
		}
		if counts := b.Mini().PubSubNumSub("ch"); counts["ch"] != 0 {
			t.Errorf("server counts %v", counts)
		}
	})
}

func TestResubscribesWithinSecondsOfAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t)})
		e := newEar()
		defer c.Subscriber().Subscribe("ch", e).Close()
		synctest.Wait()

		b.Cut()
		b.Advance(100 * time.Millisecond) // at most one redial delay
		if e.count(subscribedEvent) != 2 {
			t.Fatalf("after a cut: %v", e.heard())
		}
		b.SetFault(redistest.DropReplies)
		b.Advance(3 * time.Second) // silent for a second, no sign of life for another
		if c.Subscriber().Confirmed("ch") {
			t.Fatal("a dead connection is trusted")
		}
		b.SetFault(redistest.NoFault)
		b.Advance(3 * time.Second)
		if e.count(subscribedEvent) != 3 {
			t.Fatalf("after silence: %v", e.heard())
		}
		b.SetFault(redistest.RefuseDials)
		b.Cut()
		b.Advance(time.Minute)
		if c.Subscriber().Confirmed("ch") {
			t.Fatal("confirmed without a connection")
		}
		b.SetFault(redistest.NoFault)
		b.Advance(2 * time.Second) // the slowest redial is a second
		if e.count(subscribedEvent) != 4 {
			t.Fatalf("after refused dials: %v", e.heard())
		}
		b.Mini().Publish("ch", "0")
		synctest.Wait()
		if e.count("message 0") != 1 {
			t.Errorf("heard %v", e.heard())
		}
	})
}

// nested is a listener that does what actors do inside a call: everything.
type nested struct {
	*ear
	s   *Subscriber
	sub *Subscription
}

func (n *nested) Message(p string) {
	n.sub.Close()
	n.sub = n.s.Subscribe("other", n.ear)
	n.ear.Message(p)
}

type badListener struct{}

func (badListener) Subscribed()    { panic("subscribed") }
func (badListener) Message(string) { panic("message") }

func TestListenersMaySubscribeCloseAndPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t)})
		s := c.Subscriber()
		defer s.Subscribe("ch", badListener{}).Close()
		n := &nested{ear: newEar(), s: s}
		n.sub = s.Subscribe("ch", n)
		if len(n.heard()) != 0 {
			t.Error("called inside Subscribe")
		}
		synctest.Wait()
		b.Mini().Publish("ch", "0")
		synctest.Wait()
		b.Mini().Publish("ch", "1")
		b.Mini().Publish("other", "2")
		synctest.Wait()
		if got := fmt.Sprint(n.heard()); got != "[subscribed message 0 subscribed message 2]" {
			t.Errorf("heard %s", got)
		}
		n.sub.Close()
	})
}

func TestSubscribeAfterCloseIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t)})
		open := c.Subscriber().Subscribe("open", newEar())
		synctest.Wait()
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		open.Close()
		e := newEar()
		sub := c.Subscriber().Subscribe("ch", e)
		b.Advance(time.Minute)
		if len(e.heard()) != 0 {
			t.Errorf("heard %v", e.heard())
		}
		sub.Close()
	})
}

func TestSubscribeConcurrentSafe(t *testing.T) {
	srv := redistest.Start(t)
	c := newClient(t, Config{Client: srv.Client(t), Linger: time.Millisecond, Timeout: 50 * time.Millisecond})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				e := newEar()
				sub := c.Subscriber().Subscribe(fmt.Sprintf("ch%d", (g+i)%5), e)
				if i%10 == 0 {
					e.waitFor(t, subscribedEvent, 1)
				}
				sub.Close()
			}
		})
	}
	wg.Wait()
	eventually(t, "all unsubscribed", func() bool { return c.Subscriber().Channels() == 0 })
}
