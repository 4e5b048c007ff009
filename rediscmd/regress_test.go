package rediscmd

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// A hand-off to the owner itself (an unlock that was sent again, and its owner's next
// call) took the field out and said that the lock was handed over.
func TestHandOffToTheSameOwner(t *testing.T) {
	srv, _, c := realServer(t)
	c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
	for _, keep := range []time.Duration{lease, 0} {
		r := c.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 1}, Lease: keep})
		if n, err := srv.MustDo("HGET", "k", "a:1").ToString(); r.Verdict != HandedOver || n != "1" || err != nil {
			t.Errorf("%+v, the field is %q (%v)", r, n, err)
		}
	}
	if r := c.handOff(HandOffArgs{Name: "absent", From: Owner{"a", 1}, To: Owner{"a", 1}, Lease: lease}); r.Verdict != Absent {
		t.Errorf("of nothing: %+v", r)
	}
}

func TestHandOffWithoutHdelLeavesNoKeyForEver(t *testing.T) {
	srv := redistest.Start(t)
	c := user(t, srv, "nohdel", append(slices.Clone(leastRights), "-hdel")...)
	wantServer(t, "hand off", c.handOff(HandOffArgs{Name: "lock:gone", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease}), OutcomeFailed, "ERR", "")
	if ttl, err := srv.MustDo("PTTL", "lock:gone").AsInt64(); ttl != -2 || err != nil {
		t.Errorf("PTTL %d (%v): a key was left", ttl, err)
	}
}

// badHandler panics whenever it is told something.
type badHandler struct{ slog.Handler }

func (badHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (badHandler) Handle(context.Context, slog.Record) error { panic("log handler") }

// A logger that panicked while a silent release was told kept that release from being
// completed, and a guest that met it never came home: the lane served nobody again.
func TestAPanickingLoggerHarmsNobody(t *testing.T) {
	srv := redistest.Start(t)
	rights := slices.DeleteFunc(slices.Clone(leastRights), func(r string) bool { return r == "+publish" })
	srv.MustDo(append([]string{"ACL", "SETUSER", "mute", "reset", "on", ">pw"}, rights...)...)
	client := srv.Client(t, func(o *rueidis.ClientOption) { o.Username, o.Password = "mute", "pw" })
	for _, guest := range []bool{false, true} {
		c := newClient(t, Config{Client: client, Logger: slog.New(badHandler{})})
		patience := time.Duration(0)
		if guest {
			patience = time.Minute
		}
		k := caller{t, c.Mutex()}
		k.acquire(AcquireArgs{Name: "lock:a", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		w := newCall()
		g := c.Announce("lock:a", patience)
		c.Mutex().Release(&w.op, w, ReleaseArgs{Name: "lock:a", Owner: Owner{"a", 1}})
		g.Serve()
		if r := w.wait(t); r.Verdict != Released || !r.Silent {
			t.Errorf("guest %v: %+v", guest, r)
		}
		k.check("lock:b", Owner{"a", 1}) // the lane still works
	}
}

// gated holds back EVAL until the gate opens.
type gated struct {
	rueidis.Client
	in, gate chan struct{}
}

func (g gated) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if cmd.Commands()[0] == "EVAL" {
		close(g.in)
		select {
		case <-g.gate:
		case <-ctx.Done():
			return rueidis.NewErrorResult(ctx.Err())
		}
	}
	return g.Client.Do(ctx, cmd)
}

// A worker that had to send a script again counted as at home meanwhile, and nobody
// else was called.
func TestASecondRoundHoldsUpNobody(t *testing.T) {
	srv := redistest.Start(t)
	g := gated{srv.Client(t), make(chan struct{}), make(chan struct{})}
	c := newClient(t, Config{Client: g, Timeout: time.Minute})
	srv.MustDo("SCRIPT", "FLUSH")
	srv.MustDo("SCRIPT", "LOAD", releaseScript.text)
	a, b := newCall(), newCall()
	c.Mutex().Check(&a.op, a, "a", Owner{"a", 1})
	<-g.in
	c.Mutex().Release(&b.op, b, ReleaseArgs{Name: "b", Owner: Owner{"a", 1}})
	b.wait(t) // it would come after a's minute
	close(g.gate)
	a.wait(t)
}
