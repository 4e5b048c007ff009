package telemetry

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Config says where spans and metrics go. It takes providers and never a Tracer
// or a Meter, as the OpenTelemetry rules for instrumentation demand: the scope
// and its version are this package's to set.
type Config struct {
	// TracerProvider makes the spans. When it is nil the global provider is
	// used, and then only calls whose context already carries a sampled span
	// are traced: a program that did not ask for lock traces gets none of their
	// own.
	TracerProvider trace.TracerProvider

	// MeterProvider makes the instruments; nil means the global one.
	MeterProvider metric.MeterProvider

	// Counts is read once for each collection by the observable counters. When
	// it is nil they are not registered at all. It is called on the collector's
	// goroutine, must be safe for concurrent use, must return at once, and must
	// not call [Recorder.Close].
	Counts func() Counts
}

// Counts is a snapshot of what exists now. All fields are numbers of things.
type Counts struct {
	Held      int64 // leases held by this runtime
	Queued    int64 // requests in a local queue
	InFlight  int64 // requests whose script is on its way
	Waiting   int64 // requests that wait for a wake-up
	Unclaimed int64 // grants that nobody took out of their future yet
	Actors    int64 // lock actors alive
}

// Recorder turns the events of the runtime into spans and metrics. All methods
// are safe for concurrent use, none blocks, and on a nil *Recorder each of them
// does nothing, so callers never ask whether telemetry is on.
//
// The zero value is not usable; [New] makes one.
type Recorder struct {
	tracer trace.Tracer
	roots  bool // a provider was given: a call without any parent may start a trace
	names  *cache[string, spanNames]
	instruments

	closeOnce sync.Once
	closeErr  error
	callback  metric.Registration // nil without Counts
}

// New makes the instruments and registers the callback of the observable
// counters. If the meter refuses an instrument, the error joins all refusals and
// the recorder is nil, which is still safe to use and records nothing.
func New(cfg Config) (*Recorder, error) {
	tp, mp := cfg.TracerProvider, cfg.MeterProvider
	if tp == nil {
		tp = otel.GetTracerProvider()
	}
	if mp == nil {
		mp = otel.GetMeterProvider()
	}
	r := &Recorder{
		tracer: tp.Tracer(ScopeName,
			trace.WithInstrumentationVersion(Version),
			trace.WithSchemaURL(semconv.SchemaURL)),
		roots: cfg.TracerProvider != nil,
		names: newCache(maxNames, newSpanNames),
	}
	meter := mp.Meter(ScopeName,
		metric.WithInstrumentationVersion(Version),
		metric.WithSchemaURL(semconv.SchemaURL))
	if err := r.instruments.init(meter); err != nil {
		return nil, err
	}
	if cfg.Counts != nil {
		reg, err := observeCounts(meter, cfg.Counts)
		if err != nil {
			return nil, err
		}
		r.callback = reg
	}
	return r, nil
}

// Close unregisters the callback, so that Config.Counts and what it refers to can
// be collected: with the OpenTelemetry SDK, Counts is not called any more once
// Close has returned. Spans that are open can still be ended, and the other
// methods go on recording. Later calls return the result of the first.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.closeOnce.Do(func() {
		if r.callback != nil {
			r.closeErr = r.callback.Unregister()
		}
	})
	return r.closeErr
}

// observeCounts registers the counters that are read at collection. Gauges that
// are pushed on every event would cost the hot path; these cost nothing there.
func observeCounts(m metric.Meter, counts func() Counts) (metric.Registration, error) {
	var errs []error
	counter := func(name, unit, desc string) metric.Int64ObservableUpDownCounter {
		c, err := m.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(desc))
		errs = append(errs, err)
		return c
	}
	leases := counter("holdfast.client.lease.count", "{lease}", "Leases held by this runtime.")
	requests := counter("holdfast.client.request.count", "{request}", "Acquire requests that are not settled, by state.")
	actors := counter("holdfast.runtime.actor.count", "{actor}", "Lock actors that are alive.")
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	state := func(s string) []metric.ObserveOption {
		return []metric.ObserveOption{metric.WithAttributes(keyRequestState.String(s))}
	}
	queued, inFlight := state(stateQueued), state(stateInFlight)
	waiting, unclaimed := state(stateWaiting), state(stateUnclaimed)
	return m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		c := counts()
		o.ObserveInt64(leases, c.Held)
		o.ObserveInt64(requests, c.Queued, queued...)
		o.ObserveInt64(requests, c.InFlight, inFlight...)
		o.ObserveInt64(requests, c.Waiting, waiting...)
		o.ObserveInt64(requests, c.Unclaimed, unclaimed...)
		o.ObserveInt64(actors, c.Actors)
		return nil
	}, leases, requests, actors)
}
