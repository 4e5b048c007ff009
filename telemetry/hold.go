package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"
)

var holdKind = trace.WithSpanKind(trace.SpanKindInternal)

// HoldInfo is what is known when a lock is granted.
type HoldInfo struct {
	Name      string    // the lock's name, as the user wrote it
	Kind      string    // Kind constants
	Owner     string    // uuid:number, as on the wire
	LeaseMode string    // LeaseWatchdog or LeaseFixed
	Count     int       // the owner's hold count after this grant
	At        time.Time // the moment of the grant, where the acquire span ended; zero means now
}

// HoldSpan is the span of one hold, if it has one. It is a small value; the zero
// value is inert. One goroutine at a time may use it; different values are
// independent.
type HoldSpan struct{ traced }

// StartHold starts the span "hold {template}" of kind INTERNAL in s, under the
// same rule as [Recorder.StartAcquire]. Its parent is the span in ctx, so that it
// is a sibling of the acquire span and not its child: the acquire is over by then.
func (r *Recorder) StartHold(ctx context.Context, s *HoldSpan, i HoldInfo) {
	if r == nil || s == nil || !r.shouldTrace(ctx) {
		return
	}
	names := r.namesOf(i.Name)
	t := r.start(ctx, names.hold, holdKind, i.At)
	if t.span == nil {
		return
	}
	sc := getScratch()
	defer sc.put()
	sc.text(keyLockName, i.Name)
	sc.text(keyLockTemplate, names.template)
	sc.text(keyLockKind, i.Kind)
	sc.text(keyOwnerID, i.Owner)
	sc.text(keyLeaseMode, i.LeaseMode)
	if i.Count > 0 {
		sc.int(keyHoldCount, i.Count)
	}
	t.span.SetAttributes(sc.attrs...)
	s.traced = t
}

// SpanContext returns the identity of the hold span, for the waiters that it
// blocks, or the zero value when there is none.
func (s *HoldSpan) SpanContext() trace.SpanContext {
	if s == nil || s.span == nil {
		return trace.SpanContext{}
	}
	return s.span.SpanContext()
}

// Wrap returns ctx with the hold span in it, so that work done under the lock
// nests inside the hold. It returns ctx itself when there is no span.
func (s *HoldSpan) Wrap(ctx context.Context) context.Context {
	if s == nil || s.span == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, s.span)
}

// HoldEnd is how a hold ended.
type HoldEnd struct {
	Kind      string        // Kind constants
	Name      string        // for the log line written from the same value; the span has it from its start, metrics never
	Reason    string        // Release constants
	Held      time.Duration // from grant to end
	Renewals  int           // renewals that were acknowledged
	MinMargin time.Duration // least time left at a renewal; used when Renewals > 0
	At        time.Time     // the moment it ended; zero means now
	Err       error         // why it was lost, or why the unlock failed
}

// EndHold ends the span at e.At and records holdfast.client.hold.duration. The
// status is an Error when the lease was lost or e.Err is not nil.
//
// Call it once for each hold, traced or not; s is inert afterwards and may be nil.
func (r *Recorder) EndHold(s *HoldSpan, e HoldEnd) {
	if r == nil {
		return
	}
	ctx := background
	if s != nil && s.span != nil {
		ctx = s.ctx
		endHoldSpan(s.span, &e)
		s.traced = traced{}
	}
	if !r.holdDuration.Enabled(background) {
		return
	}
	r.holdDuration.Record(ctx, inSeconds(e.Held), r.holdSets.get(pair{e.Kind, e.Reason})...)
}

func endHoldSpan(span trace.Span, e *HoldEnd) {
	sc := getScratch()
	defer sc.put()
	sc.text(keyReleaseReason, e.Reason)
	sc.int(keyRenewals, e.Renewals)
	if e.Renewals > 0 {
		sc.seconds(keyRenewMargin, e.MinMargin)
	}
	switch {
	case e.Reason == ReleaseLost:
		sc.fail(span, errorType(e.Err, errorLeaseLost), e.Err)
	case e.Err != nil:
		sc.fail(span, errorType(e.Err, ""), e.Err)
	}
	sc.finish(span, e.At)
}
