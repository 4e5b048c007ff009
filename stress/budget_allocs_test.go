//go:build !race

package stress

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// One uncontended lock and unlock, the pipeline, the Redis client and, where the
// call is sampled, the spans of the SDK included.
func TestAllocationsPerCycle(t *testing.T) {
	s := redistest.Start(t)
	sampled, unsampled := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{})), sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	for _, tp := range []*sdktrace.TracerProvider{sampled, unsampled} {
		t.Cleanup(func() {
			if err := tp.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	t.Cleanup(func() {
		if err := meters.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		telemetry string
		provider  *sdktrace.TracerProvider
		max       float64
	}{
		{"off", nil, 8},
		{"unsampled", unsampled, 8},
		{"sampled", sampled, 20},
	} {
		t.Run(c.telemetry, func(t *testing.T) {
			ctx, opts := context.Background(), []holdfast.Option{}
			if c.provider != nil { // a call within a request that is traced, or was not chosen to be
				traced, span := c.provider.Tracer("test").Start(ctx, "request")
				defer span.End()
				if span.IsRecording() != (c.provider == sampled) {
					t.Fatal("the sampler does not do what its name says")
				}
				ctx, opts = traced, append(opts, holdfast.WithTracerProvider(c.provider), holdfast.WithMeterProvider(meters))
			}
			for _, use := range []struct {
				how     string
				measure func(*testing.T, *holdfast.Runtime, context.Context) float64
			}{{"one at a time", oneAtATime}, {"in flight", inFlight}} {
				// Each on connections of its own: a client that was busy once goes on
				// as if it still were.
				n := use.measure(t, start(t, option(s.Addr()), opts...), ctx)
				t.Logf("%s: %.2f allocations", use.how, n)
				if n > c.max+nowAndThen {
					t.Errorf("%s: %.2f allocations, want at most %v", use.how, n, c.max)
				}
			}
		})
	}
}

// discard is a span processor with nothing behind it: spans are made for somebody.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }

// What happens now and then, a growing pool or a ping, makes no more than this in
// the mean of as many cycles.
const (
	cycles     = 5000
	nowAndThen = 0.1
)

// oneAtATime locks and unlocks one name, blocking.
func oneAtATime(t *testing.T, rt *holdfast.Runtime, ctx context.Context) float64 {
	l := rt.Lock("alone")
	return allocations(func(n int) {
		for range n {
			h, err := l.Lock(ctx)
			if err == nil {
				err = h.Unlock(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// inFlight locks and unlocks many names, as futures.
func inFlight(t *testing.T, rt *holdfast.Runtime, ctx context.Context) float64 {
	const names = 500
	locks := make([]*holdfast.Lock, names)
	for i := range locks {
		locks[i] = rt.Lock("beside-" + strconv.Itoa(i))
	}
	locked := make([]*future.Future[*holdfast.Hold], names)
	unlocked := make([]*future.Future[struct{}], names)
	return allocations(func(n int) {
		for done := 0; done < n; done += names {
			for i, l := range locks {
				locked[i] = l.LockAsync(ctx)
			}
			for i, f := range locked {
				h, err := f.Get(ctx)
				if err != nil {
					t.Fatal(err)
				}
				unlocked[i] = h.UnlockAsync()
			}
			for _, f := range unlocked {
				if _, err := f.Get(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// allocations is the mean of the whole process over n calls that cycle makes,
// after as many to fill pools and caches.
func allocations(cycle func(n int)) float64 {
	var before, after runtime.MemStats
	cycle(cycles)
	runtime.ReadMemStats(&before)
	cycle(cycles)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / cycles
}
