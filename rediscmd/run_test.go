package rediscmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// together sends ops as one batch.
func together(c *Client, ops ...*Op) {
	for _, op := range ops {
		op.done = ignored{}
	}
	w := &worker{lane: c.lanes.only, ops: ops}
	w.batch()
}

type ignored struct{}

func (ignored) Completed(*Op) {}

// asked is an op as its door leaves it, not submitted.
func asked(door func(d Mutex, op *Op)) *Op {
	op := new(Op)
	door(Mutex{&Client{lanes: &lanes{only: &lane{closed: true}}}}, op)
	if !errors.Is(op.Reply.Err, ErrClosed) {
		panic(op.Reply.Err) // the door refused it
	}
	op.Reply = Reply{}
	return op
}

func wants(name string, owner Owner, level int64, holder bool) *Op {
	return asked(func(d Mutex, op *Op) {
		d.Acquire(op, ignored{}, AcquireArgs{Name: name, Owner: owner, Lease: lease, Level: level, WantHolder: holder})
	})
}

func gives(name string, owner Owner, left int64) *Op {
	return asked(func(d Mutex, op *Op) {
		d.Release(op, ignored{}, ReleaseArgs{Name: name, Owner: owner, Level: left, Lease: lease})
	})
}

// runs counts the scripts that a server has run.
func runs(tb testing.TB, srv *redistest.Server) int {
	tb.Helper()
	stats, err := srv.MustDo("INFO", "commandstats").ToString()
	if err != nil {
		tb.Fatal(err)
	}
	n := 0
	for _, line := range strings.Split(stats, "\n") {
		var calls int
		if rest, ok := strings.CutPrefix(line, "cmdstat_evalsha:calls="); ok {
			fmt.Sscanf(rest, "%d", &calls)
		} else if rest, ok := strings.CutPrefix(line, "cmdstat_eval:calls="); ok {
			fmt.Sscanf(rest, "%d", &calls)
		}
		n += calls
	}
	return n
}

func TestManyLocksTravelInOneRun(t *testing.T) {
	srv, c, _ := realServer(t)
	var ops []*Op
	for i := range 300 {
		ops = append(ops, wants(fmt.Sprintf("k%d", i), Owner{"a", 1}, 1, false))
	}
	before := runs(t, srv)
	together(c, slices.Clone(ops)...)
	for _, op := range ops {
		if op.Reply.Verdict != Granted || op.Reply.SentAt.IsZero() {
			t.Fatalf("%s: %+v", op.name, op.Reply)
		}
	}
	if n := runs(t, srv) - before; n != 3 {
		t.Errorf("300 acquires in %d runs, want 3 of at most %d", n, maxMany)
	}
	before = runs(t, srv)
	for i := range ops {
		ops[i] = gives(ops[i].name, Owner{"a", 1}, 0)
	}
	together(c, slices.Clone(ops)...)
	for _, op := range ops {
		if op.Reply.Verdict != Released {
			t.Fatalf("%s: %+v", op.name, op.Reply)
		}
	}
	if n := runs(t, srv) - before; n != 3 {
		t.Errorf("300 releases in %d runs", n)
	}
	if n, err := srv.MustDo("DBSIZE").AsInt64(); n != 0 || err != nil {
		t.Errorf("%d keys left (%v)", n, err)
	}
}

// Two owners that ask for one free lock in the same run: the first one gets it.
func TestOneRunGrantsALockOnce(t *testing.T) {
	srv, c, _ := realServer(t)
	ops := []*Op{wants("a", Owner{"x", 1}, 1, false), wants("k", Owner{"x", 1}, 1, false), wants("k", Owner{"x", 2}, 1, false), wants("k", Owner{"x", 1}, 1, false)}
	together(c, slices.Clone(ops)...)
	for i, want := range []Verdict{Granted, Granted, Held, Granted} {
		if ops[i].Reply.Verdict != want {
			t.Errorf("op %d: %+v, want %v", i, ops[i].Reply, want)
		}
	}
	if n, err := srv.MustDo("HLEN", "k").AsInt64(); n != 1 || err != nil {
		t.Errorf("%d owners (%v)", n, err)
	}
}

func TestForgottenScriptsOfManyAreSentAgain(t *testing.T) {
	srv, c, _ := realServer(t)
	srv.MustDo("SCRIPT", "FLUSH")
	ops := []*Op{wants("a", Owner{"x", 1}, 1, false), gives("b", Owner{"x", 1}, 0), wants("c", Owner{"x", 1}, 1, false)}
	together(c, slices.Clone(ops)...)
	for i, want := range []Verdict{Granted, Absent, Granted} {
		if ops[i].Reply.Verdict != want || ops[i].Reply.SentAt.IsZero() {
			t.Errorf("op %d: %+v, want %v", i, ops[i].Reply, want)
		}
	}
}

// A name that its user may not touch makes the server refuse the whole run.
func TestAForbiddenNameCostsOnlyItself(t *testing.T) {
	srv := redistest.Start(t)
	c := user(t, srv, "some", leastRights...).d.c
	ops := []*Op{wants("lock:a", Owner{"x", 1}, 1, false), wants("other", Owner{"x", 1}, 1, false), wants("lock:b", Owner{"x", 1}, 1, false)}
	together(c, slices.Clone(ops)...)
	if ops[0].Reply.Verdict != Granted || ops[2].Reply.Verdict != Granted {
		t.Errorf("%+v, %+v", ops[0].Reply, ops[2].Reply)
	}
	wantServer(t, "forbidden", ops[1].Reply, OutcomeFailed, "NOPERM", "")
}

// What fails after the first lock was taken fails for itself: the run goes on, and
// need not be sent again one by one.
func TestNothingStopsARunThatHasTaken(t *testing.T) {
	srv := redistest.Start(t)
	c := user(t, srv, "nopttl", append(slices.Clone(leastRights), "-pttl")...).d.c
	before := runs(t, srv)
	ops := []*Op{wants("lock:a", Owner{"x", 1}, 1, false), wants("lock:a", Owner{"x", 2}, 1, false), wants("lock:b", Owner{"x", 1}, 1, false)}
	together(c, slices.Clone(ops)...)
	if ops[0].Reply.Verdict != Granted || ops[1].Reply.Outcome != OutcomeFailed || ops[2].Reply.Verdict != Granted {
		t.Errorf("%+v, %+v, %+v", ops[0].Reply, ops[1].Reply, ops[2].Reply)
	}
	if n := runs(t, srv) - before; n != 1 {
		t.Errorf("%d runs", n)
	}
}

func TestAFullServerRefusesEachAndFreesAll(t *testing.T) {
	srv, c, _ := realServer(t)
	held := []*Op{wants("a", Owner{"x", 1}, 1, false), wants("b", Owner{"x", 1}, 1, false)}
	together(c, slices.Clone(held)...)
	srv.MustDo("CONFIG", "SET", "maxmemory", "1")
	ops := []*Op{wants("c", Owner{"x", 1}, 1, false), wants("d", Owner{"x", 1}, 1, false), gives("a", Owner{"x", 1}, 0), gives("b", Owner{"x", 1}, 0)}
	together(c, slices.Clone(ops)...)
	srv.MustDo("CONFIG", "SET", "maxmemory", "0")
	for i, op := range ops {
		if i < 2 {
			wantServer(t, op.name, op.Reply, OutcomeFailed, "OOM", "")
		} else if op.Reply.Verdict != Released {
			t.Errorf("%s: %+v", op.name, op.Reply)
		}
	}
	if n, err := srv.MustDo("DBSIZE").AsInt64(); n != 0 || err != nil {
		t.Errorf("%d keys left (%v)", n, err)
	}
}

// radio records what is published about locks.
type radio struct {
	mu    sync.Mutex
	heard []string
}

func tuned(t *testing.T, srv *redistest.Server) *radio {
	r := &radio{}
	client := srv.Client(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	ready := make(chan struct{})
	hooked := rueidis.WithOnSubscriptionHook(ctx, func(s rueidis.PubSubSubscription) {
		if s.Kind == "psubscribe" {
			close(ready)
		}
	})
	go func() {
		defer close(done)
		_ = client.Receive(hooked, client.B().Psubscribe().Pattern("*").Build(), func(m rueidis.PubSubMessage) {
			r.mu.Lock()
			r.heard = append(r.heard, m.Channel+" "+m.Message)
			r.mu.Unlock()
		})
	}()
	<-ready
	t.Cleanup(func() { cancel(); <-done })
	return r
}

// take returns, sorted, what was heard up to a mark that is published last.
func (r *radio) take(t *testing.T, srv *redistest.Server) []string {
	srv.MustDo("PUBLISH", "mark", "end")
	var got []string
	eventually(t, "the mark arrives", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.Index(r.heard, "mark end")
		if i >= 0 {
			got, r.heard = r.heard[:i], nil
		}
		return i >= 0
	})
	slices.Sort(got)
	return got
}

// contents is every key with its type, fields and whether its TTL is lease.
func contents(t *testing.T, srv *redistest.Server) []string {
	keys, err := srv.MustDo("KEYS", "*").AsStrSlice()
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		fields, err := srv.Do("HGETALL", key).AsStrMap()
		ttl, _ := srv.MustDo("PTTL", key).AsInt64()
		keys[i] = fmt.Sprint(key, " ", fields, err, " ", ttl > 0 && time.Duration(ttl)*time.Millisecond <= lease)
	}
	slices.Sort(keys)
	return keys
}

func said(op *Op) string {
	kind := ""
	if e, ok := op.Reply.Err.(*ServerError); ok {
		kind = e.ErrorType()
	}
	return fmt.Sprintf("%s: %v %v %s %d ttl %v %s", op.name, op.Reply.Outcome, op.Reply.Verdict, op.Reply.Owner, op.Reply.Count, op.Reply.TTL > 0, kind)
}

// What a run does to its locks, says about them and publishes is what one run for
// each would.
func TestARunDoesWhatSingleRunsDo(t *testing.T) {
	manySrv, many, _ := realServer(t)
	oneSrv, one, _ := realServer(t)
	heardMany, heardOne := tuned(t, manySrv), tuned(t, oneSrv)
	names := []string{"a", "b", "c", "d{x}", "{y}e", "f"}
	owners := []Owner{{"x", 1}, {"x", 2}, {"x", 3}}
	rapid.Check(t, func(rt *rapid.T) {
		manySrv.MustDo("FLUSHALL")
		oneSrv.MustDo("FLUSHALL")
		var ops, singly []*Op
		for _, name := range names {
			owner := rapid.SampledFrom(owners).Draw(rt, "holder")
			switch rapid.IntRange(0, 3).Draw(rt, "state of "+name) {
			case 0:
			case 1:
				manySrv.MustDo("SET", name, "a string")
				oneSrv.MustDo("SET", name, "a string")
			default:
				for _, srv := range []*redistest.Server{manySrv, oneSrv} {
					srv.MustDo("HSET", name, owner.String(), "2")
					srv.MustDo("PEXPIRE", name, fmt.Sprint(lease.Milliseconds()/2))
				}
			}
			who := rapid.SampledFrom(owners).Draw(rt, "owner")
			level := rapid.Int64Range(0, 2).Draw(rt, "level")
			holder := rapid.Bool().Draw(rt, "holder wanted")
			makeOp := func() *Op { return wants(name, who, max(level, 1), holder) }
			if rapid.Bool().Draw(rt, "release") {
				makeOp = func() *Op { return gives(name, who, level) }
			}
			ops, singly = append(ops, makeOp()), append(singly, makeOp())
		}
		together(many, slices.Clone(ops)...)
		for _, op := range singly {
			together(one, op)
		}
		for i := range ops {
			if a, b := said(ops[i]), said(singly[i]); a != b {
				rt.Errorf("together %s\nalone    %s", a, b)
			}
		}
		if a, b := contents(t, manySrv), contents(t, oneSrv); !slices.Equal(a, b) {
			rt.Errorf("together %q\nalone    %q", a, b)
		}
		if a, b := heardMany.take(t, manySrv), heardOne.take(t, oneSrv); !slices.Equal(a, b) {
			rt.Errorf("together %q\nalone    %q", a, b)
		}
	})
}
