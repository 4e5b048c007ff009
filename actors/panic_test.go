package actors

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfast-go/holdfast/telemetry"
)

// A panic in a handler fails the one call that the message was about; the state
// stays, and the next call works (activation.go, actors-wheel.md 8.9-5).

// panicOnce makes the next sending of script panic.
func panicOnce(d *fakeDoor, script string) *atomic.Bool {
	var done atomic.Bool
	d.change(func(d *fakeDoor) {
		d.before = func(s, _ string) {
			if s == script && !done.Swap(true) {
				panic("boom")
			}
		}
	})
	return &done
}

func TestPanicInADoorFailsOneTry(t *testing.T) {
	r := newRig(t)
	first := r.take("lock")
	panicked := panicOnce(r.door, "acquire")
	again, err := r.acquire(t.Context(), "lock", by(first.Owner()), asTry).Await(t.Context())
	if again != nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("a re-entry whose script panicked: %v, %v", again, err)
	}
	if !panicked.Load() {
		t.Fatal("nothing panicked")
	}
	wantHeld(t, first)
	second := r.take("lock", by(first.Owner()))
	if second.Count() != 2 {
		t.Errorf("count %d after a failed re-entry and a good one, want 2", second.Count())
	}
	if _, n := r.door.holder("lock"); n != 2 {
		t.Errorf("the server counts %d levels, want 2", n)
	}
	r.unlock(second)
	if _, n := r.door.holder("lock"); n != 1 {
		t.Errorf("the server counts %d levels, want 1", n)
	}
	r.unlock(first)
	r.wantEmpty()
}

// A waiting call is not failed: whether its script ran is unknown, so it asks
// again.
func TestPanicInADoorWhileWaiting(t *testing.T) {
	r := newRig(t)
	panicked := panicOnce(r.door, "acquire")
	h := r.take("lock")
	if !panicked.Load() || r.door.times("acquire") != 2 {
		t.Errorf("%d attempts, panicked %v; want a second one after a panic", r.door.times("acquire"), panicked.Load())
	}
	r.unlock(h)
	r.wantEmpty()
}

func TestPanicInADoorWhileUnlocking(t *testing.T) {
	for _, script := range []string{"release", "handoff"} {
		t.Run(script, func(t *testing.T) {
			r := newRig(t)
			h := r.take("lock")
			var waiter *Hold
			if script == "handoff" {
				waiter = r.acquire(t.Context(), "lock")
			}
			panicked := panicOnce(r.door, script)
			r.unlock(h)
			if !panicked.Load() {
				t.Fatal("nothing panicked")
			}
			if waiter != nil {
				next, err := waiter.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				r.unlock(next)
			}
			r.wantEmpty()
			if owner, _ := r.door.holder("lock"); owner != "" {
				t.Errorf("the lock is still %s's", owner)
			}
		})
	}
}

func TestPanicInADoorFailsOneInspection(t *testing.T) {
	r := newRig(t)
	h := r.take("lock")
	panicOnce(r.door, "inspect")
	if _, err := r.Inspect(r.kind, "lock").Get(t.Context()); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("an inspection whose script panicked: %v", err)
	}
	st, err := r.Inspect(r.kind, "lock").Get(t.Context())
	if err != nil || st.Owner != h.Owner() || st.Count != 1 {
		t.Errorf("the next one: %+v, %v", st, err)
	}
	r.unlock(h)
	r.wantEmpty()
}

// bomb is a tracer provider whose spans record nothing and panic once.
type bomb struct {
	noop.TracerProvider
	at    string // "start hold", "end acquire"
	armed atomic.Bool
	gone  atomic.Bool
}

type bombSpan struct {
	noop.Span
	bomb *bomb
	name string
}

func (b *bomb) Tracer(string, ...trace.TracerOption) trace.Tracer { return &bombTracer{bomb: b} }

type bombTracer struct {
	noop.Tracer
	bomb *bomb
}

func (t *bombTracer) Start(ctx context.Context, name string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	kind, _, _ := strings.Cut(name, " ")
	t.bomb.explode("start " + kind)
	return ctx, &bombSpan{bomb: t.bomb, name: kind}
}

func (b *bomb) explode(at string) {
	if b.armed.Load() && at == b.at && !b.gone.Swap(true) {
		panic("boom")
	}
}

func (s *bombSpan) IsRecording() bool          { return true }
func (s *bombSpan) End(...trace.SpanEndOption) { s.bomb.explode("end " + s.name) }

// A telemetry provider that panics on the actor, before or after the grant was
// booked, costs that call and nothing else; what Redis granted is given back.
func TestPanicInTelemetryFailsOneCall(t *testing.T) {
	for _, at := range []string{"start hold", "end acquire"} {
		t.Run(at, func(t *testing.T) {
			b := &bomb{at: at}
			b.armed.Store(true)
			tel, err := telemetry.New(telemetry.Config{TracerProvider: b})
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, withTelemetry(tel))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			h, err := r.acquire(ctx, "lock").Await(ctx)
			if h != nil || err == nil || !strings.Contains(err.Error(), "boom") {
				t.Fatalf("a call whose telemetry panicked: %v, %v", h, err)
			}
			if !b.gone.Load() {
				t.Fatal("nothing panicked")
			}
			next := r.take("lock")
			if next.Count() != 1 {
				t.Errorf("count %d, want 1", next.Count())
			}
			r.unlock(next)
			r.wantEmpty()
			if owner, _ := r.door.holder("lock"); owner != "" {
				t.Errorf("the lock is still %s's", owner)
			}
		})
	}
}

// The same for a re-entry: the level that was there keeps its count.
func TestPanicInTelemetryKeepsTheCount(t *testing.T) {
	b := &bomb{at: "start hold"}
	tel, err := telemetry.New(telemetry.Config{TracerProvider: b})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, withTelemetry(tel))
	first := r.take("lock")
	b.armed.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if h, err := r.acquire(ctx, "lock", by(first.Owner())).Await(ctx); err == nil {
		t.Fatalf("a re-entry whose telemetry panicked got %v", h)
	}
	r.eventually("the level is given back", func() bool { _, n := r.door.holder("lock"); return n == 1 })
	wantHeld(t, first)
	second := r.take("lock", by(first.Owner()))
	if second.Count() != 2 {
		t.Errorf("count %d, want 2", second.Count())
	}
	r.unlock(second)
	r.unlock(first)
	r.wantEmpty()
}

// An OnLost hook that panics is the last to hear of one loss, not of all.
func TestPanicInAHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		r := newBubbleRig(t, func(c *Config) {
			c.OnLost = func(LostInfo) {
				if told.Add(1) == 1 {
					panic("boom")
				}
			}
		})
		for range 3 {
			h := r.take("lock", leaseOf(20*time.Millisecond))
			<-h.Lost()
		}
		r.eventually("three losses are told", func() bool { return told.Load() == 3 })
		r.wantEmpty()
	})
}
