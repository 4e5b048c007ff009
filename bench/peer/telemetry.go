package peer

import (
	"context"
	"errors"
	"fmt"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// telemetry is what a program that uses OpenTelemetry gives to holdfast.
type telemetry struct {
	options []holdfast.Option
	ctx     context.Context // carries the caller's span
	stop    func() error
}

// newTelemetry sets up the SDK with metrics that are collected when somebody asks,
// and spans that are made and thrown away: what an exporter costs is not ours.
func newTelemetry(ctx context.Context, mode string) (telemetry, error) {
	var sampler sdktrace.Sampler
	switch mode {
	case "", wire.TelemetryOff:
		return telemetry{ctx: ctx, stop: func() error { return nil }}, nil
	case wire.TelemetryUnsampled:
		sampler = sdktrace.NeverSample()
	case wire.TelemetrySampled:
		sampler = sdktrace.AlwaysSample()
	default:
		return telemetry{}, fmt.Errorf("there is no telemetry %q", mode)
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithSpanProcessor(discard{}))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	ctx, span := traces.Tracer("bench").Start(ctx, "caller")
	return telemetry{
		options: []holdfast.Option{holdfast.WithTracerProvider(traces), holdfast.WithMeterProvider(meters)},
		ctx:     ctx,
		stop: func() error {
			span.End()
			return errors.Join(traces.Shutdown(context.Background()), meters.Shutdown(context.Background()))
		},
	}, nil
}

// discard is a span processor with nothing behind it.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }
