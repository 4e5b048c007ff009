package actors

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/telemetry"
)

// This file is how an acquire begins: validated by the facade, it becomes a Hold
// that is posted to its name, and that its caller may wait for.

// AcquireArgs is one acquire, validated by the facade.
type AcquireArgs struct {
	Kind  *Kind
	Name  string // as the user says it
	Key   string // as Redis has it
	Owner Owner  // zero: a fresh one
	Lease time.Duration
	Wait  time.Duration // bound of the wait; 0: only ctx bounds it
	Try   bool
	Watch bool // cancel the request when ctx ends (the async forms; a blocking caller watches ctx itself, and attends)
}

// Acquire posts a request and returns it; its future is Hold.Granted. With Watch it
// never blocks; a caller that is going to wait may carry its command itself (post).
// An ended ctx sends nothing.
func (s *System) Acquire(ctx context.Context, a AcquireArgs) *Hold {
	h := &Hold{sys: s, key: key{a.Key, a.Kind}, parent: ctx}
	if a.Name != a.Key {
		h.more().name = a.Name
	}
	h.hold, h.kind, h.try = h, callAcquire, a.Try
	h.owner, h.shared = a.Owner, !a.Owner.IsZero()
	if !h.shared {
		h.owner = s.NewOwner()
	}
	if h.lease = a.Lease; h.lease == 0 {
		h.lease, h.watchdog = s.rules.watchdog, true
	}
	h.timer.Value = h
	h.promise.Init(h)
	h.since, h.wait = s.wheel.Now(), a.Wait
	h.message = message{kind: evCall, about: &h.call}
	h.record = s.traceAcquire(ctx, h, &a) || a.Try || a.Wait > 0

	if n := s.pending.Add(1); n > s.maxPending {
		h.fail(&OverloadError{Limit: int(s.maxPending), Scope: "unsettled acquires of the runtime"}, nil)
		return h
	}
	if ctx.Err() != nil {
		h.dropped()
		h.promise.Future().Cancel(abandoned(ctx, nil))
		return h
	}
	if a.Watch && ctx.Done() != nil {
		h.hook(ctx)
	}
	attend := time.Duration(0)
	if !a.Watch {
		attend = canWait(ctx, a.Wait)
	}
	if s.mustWait(h) {
		s.await(h)
	} else if !s.post(nil, h.key, &h.message, attend) {
		h.fail(ErrClosed, nil)
	}
	return h
}

// traceAcquire starts the span of a request and reports whether there is one.
func (s *System) traceAcquire(ctx context.Context, h *Hold, a *AcquireArgs) bool {
	if !s.tel.Traces(ctx) {
		return false
	}
	mode := telemetry.ModeLock
	switch {
	case a.Try:
		mode = telemetry.ModeTry
	case a.Wait > 0:
		mode = telemetry.ModeTimed
	}
	x := h.more()
	x.owner = h.owner.String()
	s.tel.StartAcquire(ctx, &x.acquire, telemetry.AcquireInfo{Name: a.Name, Kind: a.Kind.Name, Mode: mode, Owner: x.owner})
	return x.acquire.Recording()
}

// hook cancels the request when ctx ends. The stop function is stored before the
// request is posted, so whoever settles it sees it.
func (h *Hold) hook(ctx context.Context) { h.unhook = context.AfterFunc(ctx, h.parentEnded) }

// post delivers a call. A caller that is going to wait for its outcome attends: it
// carries the command to Redis itself if nobody else is on the way, and comes back
// with the answer, or when its patience is over. at is where k is, if that is known.
func (s *System) post(at *cell, k key, m *message, attend time.Duration) bool {
	if attend > 0 {
		guest := s.redis.Announce(k.name, attend)
		defer guest.Serve()
	}
	if at != nil {
		return s.table.postAt(at, k, m)
	}
	return s.table.post(k, m)
}

// canWait is how long a caller can wait for the answer to one command: until its
// ctx ends, or its WaitFor bound. A ctx that is canceled before its deadline is only
// seen when Redis has answered, or the command's own time is up.
func canWait(ctx context.Context, wait time.Duration) time.Duration {
	d := never
	if wait > 0 {
		d = wait
	}
	if end, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(end))
	}
	return d
}

// Await is the blocking form of the request: it waits for the grant until ctx
// ends, and then gives the request up. A grant that is ready wins.
func (h *Hold) Await(ctx context.Context) (*Hold, error) {
	f := h.promise.Future()
	got, err := f.Get(ctx)
	if err == nil || f.IsDone() {
		if err != nil {
			got, err, _ = f.TryGet()
		}
		return got, err
	}
	f.Cancel(abandoned(ctx, h.trouble()))
	got, err, _ = f.TryGet()
	return got, err
}
