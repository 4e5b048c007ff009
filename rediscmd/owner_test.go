package rediscmd

import (
	"errors"
	"testing"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// An Op keeps what is left of its last use, a refusal or an error, until the next.
func TestOpsAreUsedAgain(t *testing.T) {
	srv := redistest.Start(t)
	c := caller{t, newClient(t, Config{Client: srv.Client(t)}).Mutex()}
	srv.MustDo("SET", "text", "no lock")
	w := newCall()
	use := func(a AcquireArgs) Reply {
		c.d.Acquire(&w.op, w, a)
		return w.wait(t)
	}
	good := AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}
	for what, bad := range map[string]AcquireArgs{
		"nobody":  {Name: "k", Lease: lease, Level: 1},
		"no time": {Name: "k", Owner: Owner{"a", 1}, Level: 1},
		"no lock": {Name: "text", Owner: Owner{"a", 1}, Lease: lease, Level: 1},
	} {
		if r := use(bad); r.Err == nil || r.Outcome != OutcomeFailed {
			t.Errorf("%s: %+v", what, r)
		}
		if r := use(good); r.Err != nil || r.Verdict != Granted {
			t.Errorf("after %s: %+v", what, r)
		}
	}
	var arg *ArgError
	if r := use(AcquireArgs{Name: "k", Lease: lease, Level: 0}); !errors.As(r.Err, &arg) || arg.Arg != "owner" {
		t.Errorf("of two reasons the first counts: %v", r.Err)
	}
}

// A worker keeps the field that it wrote last: another owner's is another.
func TestOwnersInTurn(t *testing.T) {
	srv := redistest.Start(t)
	c := caller{t, newClient(t, Config{Client: srv.Client(t), Workers: 1}).Mutex()}
	for _, o := range []Owner{{"a", 1}, {"a", 1}, {"a", 12}, {"b", 12}, {"a", 1}, {"a", -1 << 63}} {
		c.acquire(AcquireArgs{Name: "k", Owner: o, Lease: lease, Level: 1})
		if r := c.inspect("k"); r.Owner != o.String() {
			t.Errorf("%v: the lock is %s's", o, r.Owner)
		}
		if r := c.release(ReleaseArgs{Name: "k", Owner: o}); r.Verdict != Released {
			t.Errorf("%v: %+v", o, r)
		}
	}
	if s := (Owner{"a", -1 << 63}).String(); s != "a:-9223372036854775808" {
		t.Error(s)
	}
}

// What keeps or ends leases goes before what wants them.
func TestUrgentScripts(t *testing.T) {
	urgent := map[string]bool{
		"release": true, "handoff": true, "force": true, "renew": true,
		"acquire": false, "check": false, "inspect": false,
	}
	for _, s := range scripts {
		if want, ok := urgent[s.name]; !ok || s.urgent != want {
			t.Errorf("%s: urgent %v", s.name, s.urgent)
		}
	}
}

func TestCapacity(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want int
	}{
		{Config{}, 1024},
		{Config{Workers: 2, MaxBatch: 10}, 20},
		{Config{Cluster: true}, 0},
	} {
		if n := (&Client{cfg: tt.cfg.withDefaults()}).Capacity(); n != tt.want {
			t.Errorf("%+v: %d, want %d", tt.cfg, n, tt.want)
		}
	}
}
