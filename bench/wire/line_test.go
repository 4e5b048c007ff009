package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestReplies: a reader can tell the three kinds of reply apart.
func TestReplies(t *testing.T) {
	h := new(Histogram)
	h.Add(5)
	var stream bytes.Buffer
	out := NewConn(nil, &stream)
	for _, v := range []any{
		Reply{Ready: true},
		Reply{Error: "no"},
		Reply{Sample: &Sample{Ops: 3, Latency: h, Extra: map[string]float64{"x": 1}}},
	} {
		if err := out.Send(v); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(stream.String(), "\n"); n != 3 {
		t.Fatalf("%d lines for three replies", n)
	}
	in := NewConn(&stream, nil)
	var ready, failed, done Reply
	for _, r := range []*Reply{&ready, &failed, &done} {
		if err := in.Receive(r); err != nil {
			t.Fatal(err)
		}
	}
	if !ready.Ready || ready.Sample != nil || ready.Error != "" {
		t.Errorf("ready arrived as %+v", ready)
	}
	if failed.Error != "no" || failed.Sample != nil || failed.Ready {
		t.Errorf("the error arrived as %+v", failed)
	}
	if done.Sample == nil || done.Ops != 3 || done.Latency.Count() != 1 || done.Extra["x"] != 1 {
		t.Errorf("the sample arrived as %+v", done)
	}
	if err := in.Receive(&done); !errors.Is(err, io.EOF) {
		t.Errorf("after the last reply: %v", err)
	}
}

func TestReceiveRefuses(t *testing.T) {
	for _, text := range []string{"{\"ready\":tr", "nonsense\n", "{\"ops\":\"3\"}\n"} {
		var r Reply
		if err := NewConn(strings.NewReader(text), nil).Receive(&r); err == nil || errors.Is(err, io.EOF) && text[0] != '{' {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestKnob(t *testing.T) {
	j := Job{Knobs: map[string]int{"pool": 0}}
	if j.Knob("pool", 7) != 0 || j.Knob("readers", 7) != 7 {
		t.Errorf("pool %d, readers %d", j.Knob("pool", 7), j.Knob("readers", 7))
	}
}

func TestRequests(t *testing.T) {
	if n := (&Sample{Ops: 5}).Requests(); n != 5 {
		t.Errorf("without a drain: %d", n)
	}
	if n := (&Sample{Ops: 5, Served: 8}).Requests(); n != 8 {
		t.Errorf("with a drain: %d", n)
	}
}
