package telemetry

import (
	"context"
	"errors"
	"testing"
	"time"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// cycle is what the runtime reports for one contended lock and unlock.
func cycle(ctx context.Context, r *Recorder, at time.Time) {
	var a AcquireSpan
	var h HoldSpan
	r.StartAcquire(ctx, &a, AcquireInfo{Name: "orders", Kind: KindMutex, Mode: ModeLock, Owner: "u:1"})
	r.EndAcquire(&a, AcquireEnd{
		Name: "orders", Kind: KindMutex, Outcome: OutcomeAcquired, Contended: true,
		Took: time.Millisecond, Waited: time.Millisecond, Attempts: 1, Wakeup: WakeupMessage, Position: 1, At: at,
	})
	r.StartHold(ctx, &h, HoldInfo{
		Name: "orders", Kind: KindMutex, Owner: "u:1", LeaseMode: LeaseWatchdog, Count: 1, At: at,
	})
	r.EndHold(&h, HoldEnd{
		Kind: KindMutex, Name: "orders", Reason: ReleaseUnlock, Held: time.Second, Renewals: 1, MinMargin: 1, At: at,
	})
	r.Released(KindMutex, time.Millisecond, nil)
}

// events are the reports that have no span.
func events(r *Recorder) {
	r.RenewedBatch(RenewBatch{Took: time.Millisecond, Renewed: 3, Lost: 1, Failed: 1})
	r.RenewMargin(time.Second)
	r.Wakeup(WakeupPoll, true)
	r.HandedOff(ScopeLocal, time.Millisecond)
	r.CleanedUp(CleanupCanceled)
	r.Lost(Loss{Kind: KindMutex, Name: "orders", Owner: "u:1", Reason: LossExpired})
	r.Released(KindMutex, time.Millisecond, errClassified)
	r.Batch(8)
	r.TimerLag(time.Millisecond)
}

var errClassified error = classified("x")

// setup is one way to run the library: a recorder and the context of a caller.
type setup struct {
	name string
	rec  *Recorder
	ctx  context.Context
	max  float64 // allocations of one cycle
}

func setups(tb testing.TB) []setup {
	tb.Helper()
	mk := func(cfg Config) *Recorder {
		r, err := New(cfg)
		if err != nil {
			tb.Fatal(err)
		}
		return r
	}
	reader := sdkmetric.NewManualReader()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tp := sdktrace.NewTracerProvider()
	never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	tb.Cleanup(func() {
		err := errors.Join(mp.Shutdown(context.Background()), tp.Shutdown(context.Background()),
			never.Shutdown(context.Background()))
		if err != nil {
			tb.Error(err)
		}
	})
	bg := context.Background()
	sampled, _ := tp.Tracer("user").Start(bg, "work")
	unsampled, _ := never.Tracer("user").Start(bg, "work")
	if trace.SpanFromContext(unsampled).IsRecording() || !trace.SpanFromContext(sampled).IsRecording() {
		tb.Fatal("the samplers do not do what their names say")
	}
	return []setup{
		{"nil", nil, sampled, 0},
		{"off", mk(Config{}), bg, 0},
		{"off_noop_providers", mk(Config{
			TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider(),
		}), unsampled, 0},
		{"unsampled", mk(Config{TracerProvider: tp, MeterProvider: mp}), unsampled, 0},
		{"no_parent", mk(Config{MeterProvider: mp}), bg, 0},
		{"sampled", mk(Config{TracerProvider: tp, MeterProvider: mp}), sampled, 16},
	}
}

func BenchmarkCycle(b *testing.B) {
	for _, s := range setups(b) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cycle(s.ctx, s.rec, grant)
			}
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	for _, s := range setups(b) {
		if s.name != "off" && s.name != "unsampled" {
			continue
		}
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				events(s.rec)
			}
		})
	}
}

func BenchmarkTemplate(b *testing.B) {
	for _, name := range []string{"orders:europe:north", "order:42", "job/550e8400-e29b-41d4-a716-446655440000/run"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Template(name)
			}
		})
	}
}
