package telemetry

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// rig is a recorder on a real SDK that keeps everything in memory. No test here
// touches the global providers.
type rig struct {
	t      *testing.T
	spans  *tracetest.SpanRecorder
	tp     *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	mp     *sdkmetric.MeterProvider
	rec    *Recorder
}

func newRig(t *testing.T, counts func() Counts, opts ...sdktrace.TracerProviderOption) *rig {
	t.Helper()
	g := &rig{t: t, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	g.tp = sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(g.spans))...)
	g.mp = sdkmetric.NewMeterProvider(sdkmetric.WithReader(g.reader))
	rec, err := New(Config{TracerProvider: g.tp, MeterProvider: g.mp, Counts: counts})
	if err != nil {
		t.Fatal(err)
	}
	g.rec = rec
	t.Cleanup(func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
		_ = g.tp.Shutdown(context.Background())
		_ = g.mp.Shutdown(context.Background())
	})
	return g
}

// parent is a recording span of the user, with the context that carries it.
func (g *rig) parent() (context.Context, trace.Span) {
	return g.tp.Tracer("user").Start(context.Background(), "work")
}

// ended returns the library's ended spans, in the order in which they ended.
func (g *rig) ended() []sdktrace.ReadOnlySpan {
	var out []sdktrace.ReadOnlySpan
	for _, s := range g.spans.Ended() {
		if s.InstrumentationScope().Name == ScopeName {
			out = append(out, s)
		}
	}
	return out
}

// one returns the library's only span.
func (g *rig) one() sdktrace.ReadOnlySpan {
	g.t.Helper()
	spans := g.ended()
	if len(spans) != 1 {
		g.t.Fatalf("ended spans = %d, want 1", len(spans))
	}
	return spans[0]
}

// collect returns the library's metrics by name.
func (g *rig) collect() map[string]metricdata.Metrics {
	g.t.Helper()
	var rm metricdata.ResourceMetrics
	if err := g.reader.Collect(context.Background(), &rm); err != nil {
		g.t.Fatal(err)
	}
	out := map[string]metricdata.Metrics{}
	for _, sm := range rm.ScopeMetrics {
		if sm.Scope.Name != ScopeName || sm.Scope.Version != Version {
			g.t.Errorf("scope = %s %s, want %s %s", sm.Scope.Name, sm.Scope.Version, ScopeName, Version)
		}
		for _, m := range sm.Metrics {
			out[m.Name] = m
		}
	}
	return out
}

// point is one data point of any kind, reduced to what the tests compare.
type point struct {
	attrs     map[string]any
	count     int64 // observations of a histogram, value of a sum
	sum       float64
	exemplars []exemplar
}

type exemplar struct{ traceID, spanID string }

func points(t *testing.T, m metricdata.Metrics) []point {
	t.Helper()
	var out []point
	switch d := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			out = append(out, point{plain(p.Attributes.ToSlice()), int64(p.Count), p.Sum, exemplarsOf(p.Exemplars)})
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			out = append(out, point{plain(p.Attributes.ToSlice()), int64(p.Count), float64(p.Sum), nil})
		}
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			out = append(out, point{plain(p.Attributes.ToSlice()), p.Value, float64(p.Value), nil})
		}
	default:
		t.Fatalf("%s: unexpected data %T", m.Name, d)
	}
	return out
}

func exemplarsOf(es []metricdata.Exemplar[float64]) []exemplar {
	var out []exemplar
	for _, e := range es {
		var tid trace.TraceID
		var sid trace.SpanID
		copy(tid[:], e.TraceID)
		copy(sid[:], e.SpanID)
		out = append(out, exemplar{tid.String(), sid.String()})
	}
	return out
}

// find returns the value of the point with exactly these attributes.
func (g *rig) find(metrics map[string]metricdata.Metrics, name string, attrs map[string]any) point {
	g.t.Helper()
	m, ok := metrics[name]
	if !ok {
		g.t.Fatalf("%s was not emitted; have %v", name, slices.Sorted(maps.Keys(metrics)))
	}
	ps := points(g.t, m)
	for _, p := range ps {
		if maps.Equal(p.attrs, attrs) {
			return p
		}
	}
	g.t.Fatalf("%s has no point %v; have %v", name, attrs, ps)
	return point{}
}

// plain turns attributes into a map that can be compared.
func plain(kvs []attribute.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range kvs {
		out[string(kv.Key)] = kv.Value.AsInterface()
	}
	return out
}

func wantAttrs(t *testing.T, what string, got []attribute.KeyValue, want map[string]any) {
	t.Helper()
	have := plain(got)
	if len(have) != len(got) {
		t.Errorf("%s: duplicate attribute in %v", what, got)
	}
	for k, v := range want {
		if have[k] != v {
			t.Errorf("%s: %s = %v (%T), want %v (%T)", what, k, have[k], have[k], v, v)
		}
	}
	for k, v := range have {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: unexpected %s = %v", what, k, v)
		}
	}
}

// classified is an error that names its class.
type classified string

func (e classified) Error() string     { return "failed: " + string(e) }
func (e classified) ErrorType() string { return string(e) }

// sampledContext makes the identity of somebody else's sampled span.
func sampledContext(n byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{15: n}, SpanID: trace.SpanID{7: n},
		TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

var grant = time.Date(2031, 2, 3, 4, 5, 6, 789, time.UTC)
