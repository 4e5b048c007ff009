package perform

import (
	"errors"
	"io"
	"testing"

	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// TestServe is the whole conversation: a job that cannot be done, and one that can.
func TestServe(t *testing.T) {
	server := redistest.Start(t)
	jobs, toPerformer := io.Pipe()
	replies, fromPerformer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), jobs, fromPerformer)
		fromPerformer.Close()
	}()
	conn := wire.NewConn(replies, toPerformer)
	say := func(v any) {
		t.Helper()
		if err := conn.Send(v); err != nil {
			t.Fatal(err)
		}
	}
	hear := func() wire.Reply {
		t.Helper()
		var r wire.Reply
		if err := conn.Receive(&r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	say(wire.Job{System: wire.Holdfast, Work: "singing"})
	if r := hear(); r.Error == "" {
		t.Errorf("an unknown work was answered with %+v", r)
	}
	job := wire.Job{System: wire.Holdfast, Work: wire.Uncontended, Addr: server.Addr(), InFlight: 4, Async: true, Seconds: 0.05}
	say(job)
	if r := hear(); !r.Ready {
		t.Fatalf("not ready: %+v", r)
	}
	say(wire.Go{Go: true})
	if r := hear(); r.Sample == nil || r.Ops == 0 || r.Latency.Count() < r.Ops || r.Served < r.Latency.Count() {
		t.Errorf("the sample is %+v", r.Sample)
	}
	say(job)
	hear()
	say(wire.Go{})
	if r := hear(); r.Error == "" {
		t.Errorf("it ran without go: %+v", r)
	}
	toPerformer.Close()
	if err := <-served; err != nil {
		t.Errorf("at the end of the input: %v", err)
	}
	var r wire.Reply
	if err := conn.Receive(&r); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

// TestNothingStaysLocked: each system gives back all that it took.
func TestNothingStaysLocked(t *testing.T) {
	for _, system := range []string{
		wire.Holdfast, wire.Floor, wire.Rueidislock, wire.Redsync, wire.Redislock, wire.RedsyncPiped, wire.RedislockPiped,
	} {
		for _, async := range []bool{false, true} {
			sample, server := do(t, wire.Job{System: system, Work: wire.Uncontended, InFlight: 9, Async: async, Seconds: 0.05})
			if n, err := server.MustDo("DBSIZE").AsInt64(); n != 0 || err != nil || sample.Ops == 0 {
				t.Errorf("%s, async %v: %d keys after %d pairs, %v", system, async, n, sample.Ops, err)
			}
		}
	}
}
