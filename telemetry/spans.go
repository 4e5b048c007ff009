package telemetry

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Traces reports whether a call with this ctx may get a span. Ask it before paying
// for what only spans need, an owner's text for example.
func (r *Recorder) Traces(ctx context.Context) bool { return r != nil && r.shouldTrace(ctx) }

// shouldTrace decides, before anything is built, whether a call gets a span. A
// sampled parent, here or in another process, ended or not: yes. A parent that is
// not sampled: no, the trace was decided against. No parent at all: only when the
// user gave a provider, and then its sampler has the last word.
func (r *Recorder) shouldTrace(ctx context.Context) bool {
	parent := trace.SpanFromContext(ctx)
	if parent.IsRecording() {
		return true
	}
	sc := parent.SpanContext()
	return sc.IsSampled() || r.roots && !sc.IsValid()
}

// traced is a span and the ctx that it came with, which measurements about it are
// made in: their exemplars lead to the span.
type traced struct {
	span trace.Span // nil: not recorded
	ctx  context.Context
}

// start starts a span and returns none if the sampler said no, so that an
// unsampled request carries nothing at all. A zero at means now.
//
// Attributes are set after the start and not with it. The sampler then sees the
// span name (which has the template), the kind and the parent, and a root that it
// refuses costs no attributes; as a start option they would be copied twice.
func (r *Recorder) start(ctx context.Context, name string, kind trace.SpanStartOption, at time.Time) traced {
	sc := getScratch()
	defer sc.put()
	sc.start = append(sc.start, kind)
	if isPast(at) {
		sc.start = append(sc.start, trace.WithTimestamp(at))
	}
	ctx, span := r.tracer.Start(ctx, name, sc.start...)
	if !span.IsRecording() {
		return traced{}
	}
	return traced{span, ctx}
}

// finish sets the last attributes and ends the span. A zero at means now.
func (sc *scratch) finish(span trace.Span, at time.Time) {
	span.SetAttributes(sc.attrs...)
	if isPast(at) {
		sc.end = append(sc.end, trace.WithTimestamp(at))
	}
	span.End(sc.end...)
}

// isPast reports whether a moment has to be told to a span, since its own clock would
// say another. Nearly always it is now, and an option for it an allocation.
func isPast(at time.Time) bool {
	const noticeable = 100 * time.Microsecond
	return !at.IsZero() && time.Since(at).Abs() > noticeable
}

// fail marks a span as failed: status and error.type, never RecordError, whose
// exception events OpenTelemetry is retiring.
func (sc *scratch) fail(span trace.Span, errType string, err error) {
	sc.attrs = append(sc.attrs, semconv.ErrorTypeKey.String(errType))
	text := ""
	if err != nil {
		text = validText(err.Error())
	}
	span.SetStatus(codes.Error, text)
}

// spanNames are the names that one template leads to.
type spanNames struct {
	template, acquire, hold string
}

const (
	// maxNames bounds the templates whose span names are kept. Span names are
	// to be few; a program with more templates pays for the concatenation.
	maxNames = 256
	// A longer template is not kept, so that the cache stays below 100 KB.
	maxNameLen = 128
)

func newSpanNames(template string) spanNames {
	t := validText(strings.Clone(template)) // the key may be a part of a large buffer
	return spanNames{template: t, acquire: "acquire " + t, hold: "hold " + t}
}

func (r *Recorder) namesOf(lock string) spanNames {
	t := Template(lock)
	if len(t) > maxNameLen {
		return newSpanNames(t)
	}
	return r.names.get(t)
}

// scratch is the working memory of one call. The slices go through interfaces and
// would each be an allocation; a span copies what it is given, so they can be
// used again.
type scratch struct {
	attrs []attribute.KeyValue
	start []trace.SpanStartOption
	end   []trace.SpanEndOption
}

var scratchPool = sync.Pool{New: func() any {
	return &scratch{
		attrs: make([]attribute.KeyValue, 0, 16),
		start: make([]trace.SpanStartOption, 0, 2),
		end:   make([]trace.SpanEndOption, 0, 1),
	}
}}

func getScratch() *scratch { return scratchPool.Get().(*scratch) }

// put empties sc before it goes back: a pool must not keep lock names alive.
func (sc *scratch) put() {
	clear(sc.attrs)
	clear(sc.start)
	clear(sc.end)
	sc.attrs, sc.start, sc.end = sc.attrs[:0], sc.start[:0], sc.end[:0]
	scratchPool.Put(sc)
}

// text adds a string attribute unless it is empty.
func (sc *scratch) text(k attribute.Key, v string) {
	if v != "" {
		sc.attrs = append(sc.attrs, k.String(validText(v)))
	}
}

func (sc *scratch) int(k attribute.Key, v int) { sc.attrs = append(sc.attrs, k.Int(v)) }

func (sc *scratch) bool(k attribute.Key, v bool) { sc.attrs = append(sc.attrs, k.Bool(v)) }

func (sc *scratch) seconds(k attribute.Key, v time.Duration) {
	sc.attrs = append(sc.attrs, k.Float64(inSeconds(v)))
}
