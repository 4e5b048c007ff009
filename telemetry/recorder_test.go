package telemetry

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestCounts(t *testing.T) {
	var mu sync.Mutex
	now, reads := Counts{Held: 1, Queued: 2, InFlight: 3, Waiting: 4, Unclaimed: 5, Actors: 6}, 0
	g := newRig(t, func() Counts {
		mu.Lock()
		defer mu.Unlock()
		reads++
		return now
	})
	check := func() {
		t.Helper()
		m := g.collect()
		if len(m) != 3 {
			t.Errorf("%d metrics, want 3", len(m))
		}
		if p := g.find(m, "holdfast.client.lease.count", map[string]any{}); p.count != now.Held {
			t.Errorf("lease.count = %d, want %d", p.count, now.Held)
		}
		if p := g.find(m, "holdfast.runtime.actor.count", map[string]any{}); p.count != now.Actors {
			t.Errorf("actor.count = %d, want %d", p.count, now.Actors)
		}
		for state, want := range map[string]int64{
			"queued": now.Queued, "inflight": now.InFlight, "waiting": now.Waiting, "unclaimed": now.Unclaimed,
		} {
			p := g.find(m, "holdfast.client.request.count", map[string]any{"holdfast.request.state": state})
			if p.count != want {
				t.Errorf("request.count{%s} = %d, want %d", state, p.count, want)
			}
		}
		for _, metric := range m {
			if d, ok := metric.Data.(metricdata.Sum[int64]); !ok || d.IsMonotonic {
				t.Errorf("%s: %T, want a sum that can fall", metric.Name, metric.Data)
			}
		}
	}
	check()
	mu.Lock()
	now = Counts{} // an observable may fall to zero
	mu.Unlock()
	check()
	if reads != 2 {
		t.Errorf("Counts was read %d times in 2 collections", reads)
	}

	if err := errors.Join(g.rec.Close(), g.rec.Close()); err != nil {
		t.Error(err)
	}
	if m := g.collect(); len(m) != 0 {
		t.Errorf("after Close: %d metrics, want 0", len(m))
	}
	if reads != 2 {
		t.Error("Counts was read after Close")
	}
	g.rec.Batch(1)
	if m := g.collect(); len(m) != 1 {
		t.Errorf("after Close and an event: %d metrics, want 1", len(m))
	}
}

func TestWithoutCountsNothingIsObserved(t *testing.T) {
	g := newRig(t, nil)
	if m := g.collect(); len(m) != 0 {
		t.Errorf("%d metrics before any event, want 0", len(m))
	}
}

// refusingMeter makes no instrument whose name contains bad.
type refusingMeter struct {
	metricnoop.Meter
	bad string
}

type refusingProvider struct {
	metricnoop.MeterProvider
	meter refusingMeter
}

func (p refusingProvider) Meter(string, ...metric.MeterOption) metric.Meter { return p.meter }

func (m refusingMeter) check(name string) error {
	if strings.Contains(name, m.bad) {
		return errors.New("refused " + name)
	}
	return nil
}

func (m refusingMeter) Float64Histogram(n string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	h, _ := m.Meter.Float64Histogram(n, o...)
	return h, m.check(n)
}

func (m refusingMeter) Int64Counter(n string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	c, _ := m.Meter.Int64Counter(n, o...)
	return c, m.check(n)
}

func (m refusingMeter) Int64ObservableUpDownCounter(n string, o ...metric.Int64ObservableUpDownCounterOption) (metric.Int64ObservableUpDownCounter, error) {
	c, _ := m.Meter.Int64ObservableUpDownCounter(n, o...)
	return c, m.check(n)
}

func (m refusingMeter) RegisterCallback(f metric.Callback, i ...metric.Observable) (metric.Registration, error) {
	r, _ := m.Meter.RegisterCallback(f, i...)
	return r, m.check("callback")
}

func TestNewJoinsRefusals(t *testing.T) {
	for _, c := range []struct {
		bad  string
		want []string
	}{
		{"wait", []string{"holdfast.client.wait.duration"}},
		{"renew", []string{"holdfast.client.renew.duration", "holdfast.client.renew.leases", "holdfast.client.renew.margin"}},
		{".count", []string{"holdfast.client.lease.count", "holdfast.client.request.count", "holdfast.runtime.actor.count"}},
		{"callback", []string{"callback"}},
	} {
		rec, err := New(Config{
			MeterProvider: refusingProvider{meter: refusingMeter{bad: c.bad}},
			Counts:        func() Counts { return Counts{} },
		})
		if rec != nil || err == nil {
			t.Fatalf("%s: New = %v, %v", c.bad, rec, err)
		}
		for _, name := range c.want {
			if !strings.Contains(err.Error(), "refused "+name) {
				t.Errorf("%s: %q does not name %s", c.bad, err, name)
			}
		}
		rec.Batch(1) // a nil recorder is inert
	}
}

// TestWithGlobalProviders uses whatever the process has, which in this test is
// nothing: no span without a parent, and no panic.
func TestWithGlobalProviders(t *testing.T) {
	rec, err := New(Config{Counts: func() Counts { return Counts{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	}()
	g := newRig(t, nil)
	recording, _ := g.parent()
	for _, ctx := range []context.Context{context.Background(), recording} {
		var a AcquireSpan
		rec.StartAcquire(ctx, &a, AcquireInfo{Name: "n"})
		if a.Recording() {
			t.Error("recording with a global provider that does not")
		}
		rec.EndAcquire(&a, AcquireEnd{Outcome: OutcomeAcquired, Contended: true})
	}
	if n := len(g.ended()); n != 0 {
		t.Errorf("%d spans, want 0", n)
	}
}

// TestDroppedInstrument covers the path of an instrument that a View drops.
func TestDroppedInstrument(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(sdkmetric.NewView(
		sdkmetric.Instrument{Name: "holdfast.client.acquire.*"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}},
	)))
	rec, err := New(Config{MeterProvider: mp})
	if err != nil {
		t.Fatal(err)
	}
	rec.EndAcquire(nil, AcquireEnd{Outcome: OutcomeAcquired, Contended: true, Waited: time.Second})
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &rm); err != nil {
		t.Fatal(err)
	}
	if len(rm.ScopeMetrics) != 1 || len(rm.ScopeMetrics[0].Metrics) != 1 ||
		rm.ScopeMetrics[0].Metrics[0].Name != "holdfast.client.wait.duration" {
		t.Errorf("metrics = %v, want wait.duration alone", rm.ScopeMetrics)
	}
}
