// Tracing lets two workers contend for a lock and prints the spans that say what
// happened: who waited, for whom, and who held the lock for how long.
//
//	cd examples/tracing && go run .
//	cd examples/tracing && go run . -redis 127.0.0.1:6379
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/examples/internal/demo"
)

func main() {
	addr := flag.String("redis", "", "`address` of a Redis server; empty: one inside this process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	spans, err := run(ctx, *addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracing:", err)
		os.Exit(1)
	}
	fmt.Print(tree(spans))
}

// run returns the spans of two workers who want one lock.
func run(ctx context.Context, addr string) (spans, error) {
	ctx, cancel := context.WithTimeout(ctx, 12*time.Second)
	defer cancel()
	redis, err := demo.Open(addr)
	if err != nil {
		return nil, err
	}
	defer redis.Close()

	kept := new(keeper) // yours would be an OTLP exporter
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept))
	defer provider.Shutdown(ctx)
	rt, err := holdfast.New(redis.Option(), holdfast.WithTracerProvider(provider))
	if err != nil {
		return nil, err
	}
	defer rt.Close(ctx)
	if err := contend(ctx, rt.Lock("tracing:order:42"), provider.Tracer("shop")); err != nil {
		return nil, err
	}
	return kept.sorted(), nil
}

// contend: ada has the lock and ships an order, grace waits for her.
func contend(ctx context.Context, lock *holdfast.Lock, tracer trace.Tracer) error {
	adaCtx, ada := tracer.Start(ctx, "worker ada")
	hold, err := lock.Lock(adaCtx)
	if err != nil {
		return err
	}
	graceCtx, grace := tracer.Start(ctx, "worker grace")
	waiting := lock.LockAsync(graceCtx)

	_, ship := tracer.Start(hold.Context(), "ship order", trace.WithAttributes(attribute.Int("order", 42)))
	err = waitForWaiter(ctx, lock) // the order takes as long as it takes grace to get in line
	ship.End()
	err = errors.Join(err, hold.Unlock(ctx))
	ada.End()
	if err != nil {
		return err
	}

	hold, err = waiting.Get(ctx)
	if err != nil {
		return err
	}
	err = hold.Unlock(ctx)
	grace.End()
	return err
}

// waitForWaiter returns when somebody waits for the lock.
func waitForWaiter(ctx context.Context, lock *holdfast.Lock) error {
	for {
		state, err := lock.Inspect(ctx)
		if err != nil || state.LocalWaiters > 0 {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
