package future

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// request is how a Promise is meant to be used: a part of the struct that describes the work.
type request struct {
	name    string
	promise Promise[*request]
}

// handOff is a producer on a goroutine of its own that settles each request once its reader is blocked.
type handOff chan *request

func startHandOff() handOff {
	h := make(handOff)
	go func() {
		for r := range h {
			for blocked := false; !blocked; runtime.Gosched() {
				r.promise.f.mu.Lock()
				blocked = r.promise.f.waiters.first != nil
				r.promise.f.mu.Unlock()
			}
			r.promise.Settle(r, nil)
		}
	}()
	return h
}

func (h handOff) do(ctx context.Context) error {
	r := &request{name: "n"}
	h <- r
	_, err := r.promise.Future().Get(ctx)
	return err
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates, and sync.Pool drops at random under it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	h := startHandOff()
	defer close(h)
	settled := Resolved(1)
	waited := new(Promise[int]).Future()
	waited.Done()
	ended, end := context.WithCancel(t.Context())
	end()
	var late context.Context = lateCtx{t.Context(), func() {}}
	tests := []struct {
		name string
		max  float64
		do   func()
	}{
		{"Get on settled", 0, func() { settled.Get(ctx) }},
		{"TryGet on settled", 0, func() { settled.TryGet() }},
		{"Done on settled", 0, func() { settled.Done() }},
		{"Done again", 0, func() { waited.Done() }},
		{"Get with an ended ctx", 0, func() { waited.Get(ended) }},
		{"Get whose ctx ends", 0, func() { waited.Get(late) }},
		{"request, Settle, Get", 1, func() {
			r := new(request)
			f := r.promise.Future()
			r.promise.Settle(r, nil)
			f.Get(ctx)
		}},
		{"blocking hand-off", 1, func() { h.do(ctx) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := testing.AllocsPerRun(500, tt.do); got > tt.max {
				t.Errorf("%v allocations, want at most %v", got, tt.max)
			}
		})
	}
}
