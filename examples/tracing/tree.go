package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type spans []sdk.ReadOnlySpan

// keeper is an exporter that keeps what it is given.
type keeper struct {
	mu   sync.Mutex
	kept spans
}

// ExportSpans implements sdk.SpanExporter.
func (k *keeper) ExportSpans(_ context.Context, batch []sdk.ReadOnlySpan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = append(k.kept, batch...)
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (*keeper) Shutdown(context.Context) error { return nil }

// sorted returns the spans in the order in which they began.
func (k *keeper) sorted() spans {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.Clone(k.kept)
	slices.SortStableFunc(all, func(a, b sdk.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	return all
}

// telling are the attributes that explain a contended lock; package telemetry
// lists all of them.
var telling = []string{
	"outcome", "contended", "queue.position", "wakeup.reason", "blocker.origin",
	"lease.mode", "hold.count", "release.reason",
}

// tree renders spans below their parents, and links as arrows.
func tree(all spans) string {
	var b strings.Builder
	var under func(parent trace.SpanID, depth int)
	under = func(parent trace.SpanID, depth int) {
		for _, s := range all {
			if s.Parent().SpanID() != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s%s\n", strings.Repeat("   ", depth), s.Name(), attributes(s))
			for _, l := range s.Links() {
				fmt.Fprintf(&b, "%s└─> blocked by: %s\n", strings.Repeat("   ", depth+1), all.describe(l.SpanContext.SpanID()))
			}
			under(s.SpanContext().SpanID(), depth+1)
		}
	}
	under(trace.SpanID{}, 0)
	return b.String()
}

func attributes(s sdk.ReadOnlySpan) string {
	var b strings.Builder
	for _, name := range telling {
		for _, a := range s.Attributes() {
			if string(a.Key) == "holdfast."+name {
				fmt.Fprintf(&b, "  %s=%s", name, a.Value.String())
			}
		}
	}
	return b.String()
}

// describe names a span by itself and its parent.
func (all spans) describe(id trace.SpanID) string {
	for _, s := range all {
		if s.SpanContext().SpanID() != id {
			continue
		}
		if !s.Parent().SpanID().IsValid() {
			return s.Name()
		}
		return all.describe(s.Parent().SpanID()) + " / " + s.Name()
	}
	return "a span that was not kept"
}
