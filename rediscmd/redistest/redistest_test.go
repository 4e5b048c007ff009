package redistest

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"
)

func get(client rueidis.Client, timeout time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return client.Do(ctx, client.B().Arbitrary(args[0]).Args(args[1:]...).Build()).ToString()
}

func TestServerLife(t *testing.T) {
	s := Start(t)
	client := s.Client(t)
	if _, err := get(client, time.Minute, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	if v, err := s.MustDo("GET", "k").ToString(); v != "v" || err != nil {
		t.Errorf("GET: %q %v", v, err)
	}
	if err := s.Do("NONSENSE").Error(); err == nil {
		t.Error("nonsense was accepted")
	}
	s.Pause()
	if _, err := get(client, 50*time.Millisecond, "GET", "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("paused: %v", err)
	}
	s.Resume()
	if v, err := s.MustDo("GET", "k").ToString(); v != "v" || err != nil {
		t.Errorf("resumed: %q %v", v, err)
	}
	s.Pause()
	s.Kill() // works on a stopped process too
	s.Kill()
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("killed, and accepts connections")
	}
	s.Restart()
	if n, err := s.MustDo("DBSIZE").AsInt64(); n != 0 || err != nil {
		t.Errorf("restarted with %d keys, %v", n, err)
	}
}

func TestTwoServersAreApart(t *testing.T) {
	a, b := Start(t), Start(t)
	a.MustDo("SET", "k", "v")
	if n, err := b.MustDo("EXISTS", "k").AsInt64(); n != 0 || err != nil || a.Addr() == b.Addr() {
		t.Errorf("%d %v %s %s", n, err, a.Addr(), b.Addr())
	}
}

// proxied is a client behind a proxy, with one connection.
func proxied(t *testing.T, s *Server, p *Proxy) rueidis.Client {
	return s.Client(t, func(o *rueidis.ClientOption) {
		o.InitAddress = []string{p.Addr()}
		o.PipelineMultiplex = -1
		o.AlwaysPipelining = true // a deadline then leaves the connection open
		o.ConnWriteTimeout = time.Minute
	})
}

func TestProxyModes(t *testing.T) {
	const short = 50 * time.Millisecond
	for _, test := range []struct {
		name      string
		mode      Mode
		arrives   bool // while the mode lasts
		delivered bool // once it is over
	}{
		{"Blackhole", Blackhole, false, false},
		{"SwallowReplies", SwallowReplies, true, false},
		{"Hold", Hold, false, true},
		{"HoldReplies", HoldReplies, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Start(t)
			p := NewProxy(t, s.Addr())
			client := proxied(t, s, p)
			if _, err := get(client, time.Minute, "SET", "before", "v"); err != nil {
				t.Fatal(err)
			}
			p.SetMode(test.mode)
			reply := make(chan error, 1)
			go func() {
				_, err := get(client, time.Minute, "SET", "k", "v")
				reply <- err
			}()
			time.Sleep(short)
			n, err := s.MustDo("EXISTS", "k").AsInt64()
			if err != nil || n == 1 && !test.arrives {
				t.Errorf("arrived: %d %v", n, err)
			}
			for i := 0; test.arrives && n == 0 && i < 1000; i++ {
				time.Sleep(10 * time.Millisecond)
				n, _ = s.MustDo("EXISTS", "k").AsInt64()
			}
			if test.arrives && n != 1 {
				t.Error("did not arrive")
			}
			select {
			case err := <-reply:
				t.Fatalf("reply %v", err)
			default:
			}
			p.Release()
			if err := <-reply; (err == nil) != test.delivered {
				t.Errorf("after the release: %v, want delivered %v", err, test.delivered)
			}
			if n, err := s.MustDo("EXISTS", "k").AsInt64(); err != nil || (n == 1) != (test.arrives || test.delivered) {
				t.Errorf("in the end: %d %v", n, err)
			}
			if v, err := get(client, time.Minute, "GET", "before"); v != "v" || err != nil {
				t.Errorf("recovered: %q %v", v, err)
			}
		})
	}
}

func TestProxyCut(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr())
	client := proxied(t, s, p)
	if _, err := get(client, time.Minute, "SET", "k", "v"); err != nil || p.Conns() != 1 {
		t.Fatalf("%v, %d connections", err, p.Conns())
	}
	p.SetMode(HoldReplies)
	reply := make(chan error, 1)
	go func() {
		_, err := get(client, time.Minute, "GET", "k")
		reply <- err
	}()
	p.Cut()
	if err := <-reply; err == nil {
		t.Error("a cut connection answered")
	}
	p.SetMode(Pass)
	for range 1000 {
		if v, err := get(client, time.Minute, "GET", "k"); err == nil && v == "v" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("no recovery after a cut")
}

func TestBubbleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBubble(t)
		client := b.Client(t)
		if _, err := get(client, time.Minute, "SET", "k", "v", "PX", "60000"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		b.Advance(59 * time.Second)
		if !b.Mini().Exists("k") {
			t.Error("expired early")
		}
		b.Advance(time.Second)
		if b.Mini().Exists("k") || time.Since(start) != time.Minute {
			t.Errorf("still there after %v", time.Since(start))
		}
	})
}

func TestBubbleFaults(t *testing.T) {
	for _, test := range []struct {
		fault   Fault
		arrives bool
	}{{DropRequests, false}, {DropReplies, true}} {
		synctest.Test(t, func(t *testing.T) {
			b := NewBubble(t)
			client := b.Client(t)
			if _, err := get(client, time.Second, "SET", "before", "v"); err != nil {
				t.Fatal(err)
			}
			b.SetFault(test.fault)
			start := time.Now()
			if _, err := get(client, 300*time.Millisecond, "SET", "k", "v"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			if d := time.Since(start); d != 300*time.Millisecond {
				t.Errorf("after %v", d)
			}
			if b.Mini().Exists("k") != test.arrives {
				t.Errorf("arrived: %v", !test.arrives)
			}
			b.SetFault(NoFault)
			if v, err := get(client, time.Second, "GET", "before"); v != "v" || err != nil {
				t.Errorf("recovered: %q %v", v, err)
			}
			b.SetFault(RefuseDials)
			if v, err := get(client, time.Second, "GET", "before"); v != "v" || err != nil {
				t.Errorf("existing connection: %q %v", v, err)
			}
			b.Cut()
			synctest.Wait()
			_, _ = get(client, time.Second, "GET", "before") // may still meet the old connection
			_, err := get(client, time.Second, "GET", "before")
			op, ok := errors.AsType[*net.OpError](err)
			if !ok || op.Op != "dial" || b.Conns() != 0 {
				t.Errorf("refused: %v, %d connections", err, b.Conns())
			}
		})
	}
}
