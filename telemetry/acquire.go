package telemetry

import (
	"context"
	"hash/maphash"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// maxLinks bounds the blocked-by links of one acquire: the holder that was found
// first, and one more if it changed. The count of holders is an attribute, so
// nothing is hidden.
const maxLinks = 2

var acquireKind = trace.WithSpanKind(trace.SpanKindClient)

// AcquireInfo is what is known when a lock is asked for.
type AcquireInfo struct {
	Name  string // the lock's name, as the user wrote it
	Kind  string // Kind constants
	Mode  string // Mode constants
	Owner string // uuid:number, as on the wire
}

// AcquireSpan is the span of one request for a lock, if it has one. It is a value
// to embed in the request, or in what only traced requests have; the zero value is
// inert. One goroutine at a time may use it; different values are independent.
//
// The span gets its attributes when it ends, all at once: a span that is given them
// twice pays for them twice, and nobody sees it earlier.
type AcquireSpan struct {
	traced
	info     AcquireInfo
	template string // of the name
	holder   uint64 // hash of the owner that blocked last; a string would make the value larger
	blockers uint32 // holders seen, a change back to an earlier one counts again
	links    uint8
	linked   bool // the last holder has its link
}

var ownerSeed = maphash.MakeSeed()

// StartAcquire starts the span "acquire {template}" of kind CLIENT in s, as a
// child of the span in ctx, if it is to be recorded: see the package comment for
// when that is. Otherwise s stays inert and nothing is built.
func (r *Recorder) StartAcquire(ctx context.Context, s *AcquireSpan, i AcquireInfo) {
	if r == nil || s == nil || !r.shouldTrace(ctx) {
		return
	}
	names := r.namesOf(i.Name)
	t := r.start(ctx, names.acquire, acquireKind, time.Time{})
	if t.span == nil {
		return
	}
	*s = AcquireSpan{traced: t, info: i, template: names.template}
}

// Recording reports whether the request is traced. Ask it before paying for what
// only a span needs, for example the owner's name in the reply of a script.
func (s *AcquireSpan) Recording() bool { return s != nil && s.span != nil }

// Blocker is the holder that a waiter found in its way.
type Blocker struct {
	Span   trace.SpanContext // the holder's hold span; the zero value if it is not known
	Owner  string            // uuid:number, as on the wire
	Origin string            // Origin constants
}

// Blocked notes who holds the lock. The blocker attributes always say who it was
// last. If the holder's span is known and sampled, the first holder and the next
// one that differs get a link of type blocked_by; a link to a span that nobody
// exported would lead nowhere. Calling again with the same owner changes nothing,
// except that it adds the link when only now the span is known.
//
// It does nothing when s is not recording.
func (s *AcquireSpan) Blocked(b Blocker) {
	if !s.Recording() {
		return
	}
	holder := maphash.String(ownerSeed, b.Owner)
	if s.blockers == 0 || holder != s.holder {
		s.holder, s.linked = holder, false
		s.blockers++
		sc := getScratch()
		sc.text(keyBlockerOwner, b.Owner)
		sc.text(keyBlockerOrigin, b.Origin)
		s.span.SetAttributes(sc.attrs...)
		sc.put()
	}
	if s.linked || s.links == maxLinks || !b.Span.IsValid() || !b.Span.IsSampled() {
		return
	}
	s.linked = true
	s.links++
	s.span.AddLink(trace.Link{SpanContext: b.Span, Attributes: []attribute.KeyValue{
		keyLinkType.String(linkBlockedBy),
		keyBlockerOwner.String(validText(b.Owner)),
	}})
}

// AcquireEnd is how a request for a lock ended.
type AcquireEnd struct {
	Name      string        // for the log line written from the same value; the span has it from its start, metrics never
	Kind      string        // Kind constants
	Outcome   string        // Outcome constants
	Contended bool          // somebody else held the lock at the first attempt
	Reentrant bool          // the owner held it already
	Took      time.Duration // from the request to the answer
	Waited    time.Duration // the part of Took after the first refusal; used when Contended
	Attempts  int           // scripts sent
	Wakeup    string        // Wakeup constants; empty if nothing woke it
	Position  int           // place in the queue when it joined, from 1; 0 if it did not queue
	At        time.Time     // the moment of the grant or refusal; zero means now
	Err       error         // what the caller got
}

// EndAcquire ends the span at e.At, so that late bookkeeping does not stretch it,
// and records holdfast.client.acquire.duration, and when the request was contended
// holdfast.client.wait.duration. Acquired, busy and canceled leave the status
// unset; every other outcome is an Error with error.type.
//
// Call it once for each request, traced or not; s is inert afterwards and may be
// nil.
func (r *Recorder) EndAcquire(s *AcquireSpan, e AcquireEnd) {
	if r == nil {
		return
	}
	errType := ""
	if acquireFailed(e.Outcome) {
		fallback := e.Outcome
		if fallback == OutcomeError { // says no more than the key does
			fallback = ""
		}
		errType = errorType(e.Err, fallback)
	}
	ctx := background
	if s.Recording() {
		ctx = s.ctx
		endAcquireSpan(s, &e, errType)
		*s = AcquireSpan{}
	}
	if !r.acquireDuration.Enabled(background) && !r.waitDuration.Enabled(background) {
		return
	}
	key := acquireKey{kind: e.Kind, outcome: e.Outcome, errorType: errType, contended: e.Contended}
	r.acquireDuration.Record(ctx, inSeconds(e.Took), r.acquireSets.get(key)...)
	if e.Contended {
		r.waitDuration.Record(ctx, inSeconds(e.Waited), r.waitSets.get(pair{e.Kind, e.Outcome})...)
	}
}

func endAcquireSpan(s *AcquireSpan, e *AcquireEnd, errType string) {
	sc := getScratch()
	defer sc.put()
	i := &s.info
	sc.attrs = append(sc.attrs, semconv.DBSystemNameRedis, semconv.DBStoredProcedureName(procedureAcquire))
	sc.text(keyLockName, i.Name)
	sc.text(keyLockTemplate, s.template)
	sc.text(keyLockKind, i.Kind)
	sc.text(keyAcquireMode, i.Mode)
	sc.text(keyOwnerID, i.Owner)
	sc.text(keyOutcome, e.Outcome)
	sc.bool(keyContended, e.Contended)
	sc.bool(keyReentrant, e.Reentrant)
	sc.int(keyAttempts, e.Attempts)
	if e.Contended {
		sc.seconds(keyWaitDuration, e.Waited)
	}
	sc.text(keyWakeupReason, e.Wakeup)
	if e.Position > 0 {
		sc.int(keyQueuePosition, e.Position)
	}
	if s.blockers > 0 {
		sc.int(keyBlockerCount, int(s.blockers))
	}
	if errType != "" {
		sc.fail(s.span, errType, e.Err)
	}
	sc.finish(s.span, e.At)
}

// acquireFailed reports whether an outcome is a failure of the operation rather
// than an answer to it.
func acquireFailed(outcome string) bool {
	switch outcome {
	case OutcomeAcquired, OutcomeBusy, OutcomeCanceled:
		return false
	}
	return true
}
