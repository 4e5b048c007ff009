package rediscmd

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// wantServer checks outcome, code, and that the server's text is visible.
func wantServer(t *testing.T, what string, r Reply, o Outcome, code, text string) {
	t.Helper()
	server, ok := errors.AsType[*ServerError](r.Err)
	if r.Outcome != o || !ok || server.ErrorType() != code || !contains(server.Error(), text) || r.Verdict != NoVerdict {
		t.Errorf("%s: %+v, want %v %s", what, r, o, code)
	}
}

func TestOutOfMemory(t *testing.T) {
	srv, _, c := realServer(t)
	for _, name := range []string{"held", "passed", "twice"} {
		if r := c.acquire(AcquireArgs{Name: name, Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
			t.Fatalf("%+v", r)
		}
	}
	if r := c.acquire(AcquireArgs{Name: "twice", Owner: Owner{"a", 1}, Lease: lease, Level: 2}); r.Verdict != Granted {
		t.Fatalf("%+v", r)
	}
	srv.MustDo("CONFIG", "SET", "maxmemory", "1")
	full := c.acquire(AcquireArgs{Name: "new", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
	wantServer(t, "acquire", full, OutcomeFailed, "OOM", "maxmemory")
	if !IsServerState(full.Err) {
		t.Error("a full server is not taken for a server's state")
	}
	// Whoever holds a lock can go on: PEXPIRE comes first in those scripts, and a
	// script that has written is not stopped any more.
	if r := c.acquire(AcquireArgs{Name: "twice", Owner: Owner{"a", 1}, Lease: lease, Level: 3}); r.Verdict != Granted {
		t.Errorf("re-enter: %+v", r)
	}
	if r := c.handOff(HandOffArgs{Name: "passed", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease}); r.Verdict != HandedOver {
		t.Errorf("hand off: %+v", r)
	}
	if r := c.check("passed", Owner{"a", 2}); r.Verdict != Held {
		t.Errorf("after the hand-off: %+v", r)
	}
	if r := c.release(ReleaseArgs{Name: "twice", Owner: Owner{"a", 1}, Level: 1, Lease: lease}); r.Verdict != Lowered {
		t.Errorf("lower: %+v", r)
	}
	if calls := c.renew([]*Renewal{{Name: "held", Owner: "a:1"}}); !calls[0].items[0].Held {
		t.Errorf("renew: %+v", calls[0].reply)
	}
	if r := c.extend(ExtendArgs{Name: "held", Owner: Owner{"a", 1}, Lease: lease}); r.Verdict != Renewed {
		t.Errorf("extend: %+v", r)
	}
	if r := c.release(ReleaseArgs{Name: "held", Owner: Owner{"a", 1}}); r.Verdict != Released {
		t.Errorf("release: %+v", r)
	}
	if r := c.force("passed"); r.Verdict != Released {
		t.Errorf("force: %+v", r)
	}
	srv.MustDo("CONFIG", "SET", "maxmemory", "0")
	if n, err := srv.MustDo("EXISTS", "new").AsInt64(); n != 0 || err != nil {
		t.Errorf("a refused acquire left a key: %v %v", n, err)
	}
}

func TestReadOnlyReplica(t *testing.T) {
	srv, _, c := realServer(t)
	if r := c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
		t.Fatalf("%+v", r)
	}
	srv.MustDo("REPLICAOF", "127.0.0.1", "1")
	wantServer(t, "acquire", c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 2}), OutcomeRetryable, "READONLY", "replica")
	wantServer(t, "release", c.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}), OutcomeRetryable, "READONLY", "replica")
	// The renewal must not come back as "not held".
	for _, call := range c.renew([]*Renewal{{Name: "k", Owner: "a:1"}, {Name: "l", Owner: "a:1"}}) {
		wantServer(t, "renew", call.reply, OutcomeRetryable, "READONLY", "replica")
	}
	srv.MustDo("REPLICAOF", "NO", "ONE")
	if r := c.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}); r.Verdict != Released {
		t.Errorf("release: %+v", r)
	}
}

// user makes a Client for an ACL user with rules.
func user(t *testing.T, srv *redistest.Server, name string, rules ...string) caller {
	t.Helper()
	srv.MustDo(append([]string{"ACL", "SETUSER", name, "reset", "on", ">pw"}, rules...)...)
	client := srv.Client(t, func(o *rueidis.ClientOption) { o.Username, o.Password = name, "pw" })
	return caller{t, newClient(t, Config{Client: client}).Mutex()}
}

// leastRights is the list in doc.go.
var leastRights = []string{
	"~lock:*", "&redisson_*", "+hello", "+auth", "+ping", "+script|load", "+evalsha", "+eval", "+subscribe",
	"+unsubscribe", "+exists", "+hexists", "+hset", "+hget", "+hdel", "+hscan", "+pexpire", "+pttl", "+del", "+publish", "+pubsub",
}

func TestLeastRights(t *testing.T) {
	srv := redistest.Start(t)
	c := user(t, srv, "least", leastRights...)
	e := newEar()
	sub := c.d.c.Subscriber().Subscribe(c.d.Channel("lock:k"), e)
	defer sub.Close()
	e.waitFor(t, subscribedEvent, 1)
	for want, r := range map[Verdict]Reply{Granted: c.acquire(AcquireArgs{Name: "lock:k", Owner: Owner{"a", 1}, Lease: lease, Level: 1, WantHolder: true})} {
		if r.Verdict != want {
			t.Fatalf("%+v", r)
		}
	}
	if r := c.acquire(AcquireArgs{Name: "lock:k", Owner: Owner{"a", 2}, Lease: lease, Level: 1, WantHolder: true}); r.Owner != "a:1" {
		t.Errorf("refusal: %+v", r)
	}
	if calls := c.renew([]*Renewal{{Name: "lock:k", Owner: "a:1"}}); !calls[0].items[0].Held {
		t.Errorf("renew: %+v", calls[0].reply)
	}
	if r := c.handOff(HandOffArgs{Name: "lock:k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldIfOthersListen}); r.Verdict != HandedOver {
		t.Errorf("hand off: %+v", r)
	}
	if r := c.inspect("lock:k"); r.Verdict != Held || r.Listeners != 1 {
		t.Errorf("inspect: %+v", r)
	}
	if r := c.check("lock:k", Owner{"a", 2}); r.Verdict != Held {
		t.Errorf("check: %+v", r)
	}
	if r := c.release(ReleaseArgs{Name: "lock:k", Owner: Owner{"a", 2}}); r.Verdict != Released || r.Silent {
		t.Errorf("release: %+v", r)
	}
	e.waitFor(t, "message 0", 1)
	if denied, err := srv.MustDo("ACL", "LOG").ToArray(); err != nil || len(denied) != 0 {
		t.Errorf("ACL LOG: %v %v", denied, err)
	}
	wantServer(t, "another key", c.acquire(AcquireArgs{Name: "other", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), OutcomeFailed, "NOPERM", "permission")
}

func TestMissingRights(t *testing.T) {
	srv := redistest.Start(t)
	t.Run("no PEXPIRE: no lock for ever is left", func(t *testing.T) {
		c := user(t, srv, "noexpire", append(leastRights, "-pexpire")...)
		r := c.acquire(AcquireArgs{Name: "lock:a", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		if r.Outcome != OutcomeFailed || r.Err == nil {
			t.Errorf("%+v", r)
		}
		if n, err := srv.MustDo("EXISTS", "lock:a").AsInt64(); n != 0 || err != nil {
			t.Errorf("key left: %d %v", n, err)
		}
	})
	t.Run("no channel: released, and said to be silent", func(t *testing.T) {
		c := user(t, srv, "nochannel", append(leastRights, "resetchannels")...)
		for _, end := range []func() Reply{
			func() Reply { return c.release(ReleaseArgs{Name: "lock:b", Owner: Owner{"a", 1}}) },
			func() Reply { return c.force("lock:b") },
			func() Reply {
				return c.handOff(HandOffArgs{Name: "lock:b", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldAlways})
			},
		} {
			if r := c.acquire(AcquireArgs{Name: "lock:b", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
				t.Fatalf("%+v", r)
			}
			if r := end(); r.Outcome != OutcomeDone || !r.Silent || r.Verdict != Released && r.Verdict != Yielded {
				t.Errorf("%+v", r)
			}
			if n, err := srv.MustDo("EXISTS", "lock:b").AsInt64(); n != 0 || err != nil {
				t.Errorf("key left: %d %v", n, err)
			}
		}
	})
	t.Run("no PUBSUB: yields rather than starving others", func(t *testing.T) {
		c := user(t, srv, "nopubsub", append(leastRights, "-pubsub")...)
		if r := c.acquire(AcquireArgs{Name: "lock:c", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
			t.Fatalf("%+v", r)
		}
		if r := c.inspect("lock:c"); r.Verdict != Held || r.Listeners != -1 {
			t.Errorf("%+v", r)
		}
		if r := c.handOff(HandOffArgs{Name: "lock:c", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldIfOthersListen}); r.Verdict != Yielded {
			t.Errorf("%+v", r)
		}
	})
	t.Run("one forbidden name does not cost the others their lease", func(t *testing.T) {
		c := user(t, srv, "onekey", leastRights...)
		items := []*Renewal{}
		for i := range 5 {
			name := fmt.Sprintf("lock:r%d", i)
			if r := c.acquire(AcquireArgs{Name: name, Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
				t.Fatalf("%+v", r)
			}
			items = append(items, &Renewal{Name: name, Owner: "a:1"})
		}
		items[2].Name = "forbidden"
		calls := c.renew(items)
		failed := 0
		for _, call := range calls {
			if call.reply.Outcome == OutcomeFailed {
				wantServer(t, call.items[0].Name, call.reply, OutcomeFailed, "NOPERM", "")
				failed += len(call.items)
			} else if !call.items[0].Held {
				t.Errorf("%s not renewed", call.items[0].Name)
			}
		}
		if failed != 1 || len(calls) != 5 {
			t.Errorf("%d failed, in %d calls", failed, len(calls))
		}
	})
}

func TestBusyServer(t *testing.T) {
	srv, _, c := realServer(t, "--busy-reply-threshold", "1")
	if r := c.check("k", Owner{"a", 1}); r.Verdict != Absent {
		t.Fatalf("%+v", r)
	}
	slow := srv.Client(t, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = time.Minute })
	done := make(chan error, 1)
	go func() {
		done <- slow.Do(t.Context(), slow.B().Eval().Script("while true do end").Numkeys(0).Build()).Error()
	}()
	var r Reply
	eventually(t, "BUSY", func() bool {
		r = c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		if r.Verdict == Granted { // before the slow script was in
			c.force("k")
		}
		return r.Outcome == OutcomeRetryable
	})
	wantServer(t, "acquire", r, OutcomeRetryable, "BUSY", "busy")
	srv.MustDo("SCRIPT", "KILL")
	if err := <-done; err == nil {
		t.Error("the slow script ended by itself")
	}
}

func TestFrozenServerIsUnknownWithinTimeout(t *testing.T) {
	srv := redistest.Start(t)
	c := newClient(t, Config{Client: srv.Client(t), Timeout: 200 * time.Millisecond})
	call := caller{t, c.Mutex()}
	if r := call.check("k", Owner{"a", 1}); r.Verdict != Absent {
		t.Fatalf("%+v", r)
	}
	srv.Pause()
	for range 3 { // on a connection that works, and on those that are made meanwhile
		r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		if r.Outcome != OutcomeUnknown || r.Err == nil || r.SentAt.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	srv.Resume()
	eventually(t, "recovery", func() bool {
		return call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}).Verdict == Granted
	})
	// Whatever ran while nobody listened, the count is 1.
	if r := call.check("k", Owner{"a", 1}); r.Count != 1 {
		t.Errorf("%+v", r)
	}
}

func TestKilledServer(t *testing.T) {
	srv, _, c := realServer(t)
	if r := c.check("k", Owner{"a", 1}); r.Verdict != Absent {
		t.Fatalf("%+v", r)
	}
	srv.Kill()
	eventually(t, "refused dial", func() bool {
		r := c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		if r.Outcome != OutcomeUnknown && r.Outcome != OutcomeRetryable {
			t.Fatalf("%+v", r)
		}
		return r.Outcome == OutcomeRetryable
	})
	srv.Restart()
	eventually(t, "recovery", func() bool { return c.check("k", Owner{"a", 1}).Verdict == Absent })
}

// Faults with exact timing: in the bubble.

func TestLostReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Timeout: 300 * time.Millisecond})
		call := caller{t, c.Mutex()}
		if r := call.check("k", Owner{"a", 1}); r.Verdict != Absent {
			t.Fatalf("%+v", r)
		}
		b.SetFault(redistest.DropReplies)
		start := time.Now()
		r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		if r.Outcome != OutcomeUnknown || !r.SentAt.Equal(start) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("%+v after %v", r, time.Since(start))
		}
		if b.Mini().HGet("k", "a:1") != "1" {
			t.Error("the request did not arrive")
		}
		b.SetFault(redistest.NoFault)
		if r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
			t.Errorf("settling: %+v", r)
		}
		if r := call.check("k", Owner{"a", 1}); r.Count != 1 {
			t.Errorf("count %d", r.Count)
		}
	})
}

func TestLostRequestsAndRefusedDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t)})
		call := caller{t, c.Mutex()}
		call.check("k", Owner{"a", 1})
		b.SetFault(redistest.DropRequests)
		if r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Outcome != OutcomeUnknown {
			t.Errorf("%+v", r)
		}
		if b.Mini().Exists("k") {
			t.Error("the request arrived")
		}
		b.SetFault(redistest.RefuseDials)
		b.Cut()
		synctest.Wait()
		// The first may still find the broken connection; then none can be made.
		if r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Outcome == OutcomeDone || r.Outcome == OutcomeFailed {
			t.Errorf("%+v", r)
		}
		if r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Outcome != OutcomeRetryable {
			t.Errorf("%+v", r)
		}
		b.SetFault(redistest.NoFault)
		if r := call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
			t.Errorf("%+v", r)
		}
	})
}

func TestEveryServerStateOnEveryScript(t *testing.T) {
	for text, want := range map[string]Outcome{
		"LOADING Redis is loading the dataset in memory": OutcomeRetryable,
		"MASTERDOWN Link with MASTER is down":            OutcomeRetryable,
		"NOAUTH Authentication required.":                OutcomeFailed,
	} {
		synctest.Test(t, func(t *testing.T) {
			b := redistest.NewBubble(t)
			c := newClient(t, Config{Client: b.Client(t)})
			call := caller{t, c.Mutex()}
			b.Mini().SetError(text)
			code, _, _ := strings.Cut(text, " ")
			for name, r := range map[string]Reply{
				"acquire":  call.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}),
				"release":  call.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}),
				"hand off": call.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease}),
				"force":    call.force("k"),
				"check":    call.check("k", Owner{"a", 1}),
				"inspect":  call.inspect("k"),
				"extend":   call.extend(ExtendArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease}),
				"renew":    call.renew([]*Renewal{{Name: "k", Owner: "a:1"}})[0].reply,
			} {
				wantServer(t, name, r, want, code, text)
			}
			b.Mini().SetError("")
		})
	}
}
