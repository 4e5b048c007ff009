package telemetry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

func TestAcquireSpanOfAnUncontendedLock(t *testing.T) {
	g := newRig(t, nil)
	ctx, parent := g.parent()
	var s AcquireSpan
	g.rec.StartAcquire(ctx, &s, AcquireInfo{Name: "order:42", Kind: KindMutex, Mode: ModeTry, Owner: "u:1"})
	if !s.Recording() {
		t.Fatal("not recording under a recording parent")
	}
	g.rec.EndAcquire(&s, AcquireEnd{
		Kind: KindMutex, Outcome: OutcomeAcquired, Took: time.Millisecond, Attempts: 1, At: grant,
	})
	if s.Recording() {
		t.Error("still recording after the end")
	}

	span := g.one()
	if span.Name() != "acquire order:{id}" || span.SpanKind() != trace.SpanKindClient {
		t.Errorf("span = %q %v", span.Name(), span.SpanKind())
	}
	if span.Parent().SpanID() != parent.SpanContext().SpanID() {
		t.Error("the parent is not the caller's span")
	}
	if !span.EndTime().Equal(grant) {
		t.Errorf("end = %v, want the grant %v", span.EndTime(), grant)
	}
	if sc := span.InstrumentationScope(); sc.Name != ScopeName || sc.Version != Version || sc.SchemaURL == "" {
		t.Errorf("scope = %+v", sc)
	}
	if st := span.Status(); st.Code != codes.Unset || len(span.Events()) != 0 || len(span.Links()) != 0 {
		t.Errorf("status %v, %d events, %d links; want none", st, len(span.Events()), len(span.Links()))
	}
	wantAttrs(t, "acquire", span.Attributes(), map[string]any{
		"db.system.name": "redis", "db.stored_procedure.name": "holdfast.acquire",
		"holdfast.lock.name": "order:42", "holdfast.lock.template": "order:{id}", "holdfast.lock.kind": "mutex",
		"holdfast.acquire.mode": "try", "holdfast.owner.id": "u:1", "holdfast.outcome": "acquired",
		"holdfast.contended": false, "holdfast.reentrant": false, "holdfast.attempts": int64(1),
	})
}

func TestAcquireSpanOfAWaiter(t *testing.T) {
	g := newRig(t, nil)
	ctx, _ := g.parent()
	var s AcquireSpan
	g.rec.StartAcquire(ctx, &s, AcquireInfo{Name: "jobs", Kind: KindFair, Mode: ModeTimed, Owner: "u:2"})
	s.Blocked(Blocker{Span: sampledContext(1), Owner: "v:1", Origin: OriginRemote})
	g.rec.EndAcquire(&s, AcquireEnd{
		Kind: KindFair, Outcome: OutcomeAcquired, Contended: true, Reentrant: true,
		Took: 3 * time.Second, Waited: 2500 * time.Millisecond, Attempts: 3, Wakeup: WakeupMessage, Position: 4, At: grant,
	})
	span := g.one()
	wantAttrs(t, "acquire", span.Attributes(), map[string]any{
		"db.system.name": "redis", "db.stored_procedure.name": "holdfast.acquire",
		"holdfast.lock.name": "jobs", "holdfast.lock.template": "jobs", "holdfast.lock.kind": "fair",
		"holdfast.acquire.mode": "timed", "holdfast.owner.id": "u:2", "holdfast.outcome": "acquired",
		"holdfast.contended": true, "holdfast.reentrant": true, "holdfast.attempts": int64(3),
		"holdfast.wait.duration": 2.5, "holdfast.wakeup.reason": "message", "holdfast.queue.position": int64(4),
		"holdfast.blocker.owner.id": "v:1", "holdfast.blocker.origin": "remote", "holdfast.blocker.count": int64(1),
	})
	if len(span.Links()) != 1 {
		t.Fatalf("links = %d, want 1", len(span.Links()))
	}
	link := span.Links()[0]
	if !link.SpanContext.Equal(sampledContext(1)) {
		t.Errorf("link leads to %v", link.SpanContext)
	}
	wantAttrs(t, "link", link.Attributes, map[string]any{
		"holdfast.link.type": "blocked_by", "holdfast.blocker.owner.id": "v:1",
	})
}

func TestBlockedLinks(t *testing.T) {
	unsampled := sampledContext(9).WithTraceFlags(0)
	b := func(owner string, sc trace.SpanContext) Blocker {
		return Blocker{Span: sc, Owner: owner, Origin: OriginLocal}
	}
	none := trace.SpanContext{}
	for _, c := range []struct {
		name     string
		blockers []Blocker
		links    []string // owners
		last     string
		count    int64
	}{
		{"span unknown", []Blocker{b("a", none)}, nil, "a", 1},
		{"span not sampled", []Blocker{b("a", unsampled)}, nil, "a", 1},
		{"same holder twice", []Blocker{b("a", sampledContext(1)), b("a", sampledContext(1))}, []string{"a"}, "a", 1},
		{"span found out later", []Blocker{b("a", none), b("a", sampledContext(1))}, []string{"a"}, "a", 1},
		{"holder changed", []Blocker{b("a", sampledContext(1)), b("b", sampledContext(2))}, []string{"a", "b"}, "b", 2},
		{"only the second is known", []Blocker{b("a", none), b("b", sampledContext(2))}, []string{"b"}, "b", 2},
		{
			"at most two",
			[]Blocker{b("a", sampledContext(1)), b("b", sampledContext(2)), b("c", sampledContext(3)), b("d", sampledContext(4))},
			[]string{"a", "b"},
			"d", 4,
		},
		{"nameless holder", []Blocker{b("", sampledContext(1))}, []string{""}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, nil)
			ctx, _ := g.parent()
			var s AcquireSpan
			g.rec.StartAcquire(ctx, &s, AcquireInfo{Name: "n"})
			for _, b := range c.blockers {
				s.Blocked(b)
			}
			g.rec.EndAcquire(&s, AcquireEnd{Outcome: OutcomeBusy})
			span := g.one()
			var owners []string
			for _, l := range span.Links() {
				owners = append(owners, plain(l.Attributes)["holdfast.blocker.owner.id"].(string))
			}
			if fmt.Sprint(owners) != fmt.Sprint(c.links) || len(owners) != len(c.links) {
				t.Errorf("links to %q, want %q", owners, c.links)
			}
			attrs := plain(span.Attributes())
			if got, _ := attrs["holdfast.blocker.owner.id"].(string); got != c.last {
				t.Errorf("blocker = %q, want %q", got, c.last)
			}
			if got := attrs["holdfast.blocker.count"]; got != c.count {
				t.Errorf("count = %v, want %d", got, c.count)
			}
		})
	}
}

func TestAcquireStatus(t *testing.T) {
	wrapped := fmt.Errorf("lock n: %w", classified("redis.oom"))
	for _, c := range []struct {
		outcome string
		err     error
		want    string // error.type; empty means status unset
	}{
		{OutcomeAcquired, nil, ""},
		{OutcomeBusy, classified("busy"), ""},
		{OutcomeCanceled, context.Canceled, ""},
		{OutcomeTimeout, nil, "timeout"},
		{OutcomeTimeout, errors.Join(errors.New("busy"), context.DeadlineExceeded), "timeout"},
		{OutcomeTimeout, classified("wait_timeout"), "wait_timeout"},
		{OutcomeClosed, errors.New("closed"), "closed"},
		{OutcomeError, nil, "_OTHER"},
		{OutcomeError, wrapped, "redis.oom"},
		{OutcomeError, errors.Join(context.Canceled, wrapped), "redis.oom"},
		{OutcomeError, errors.New("plain"), "*errors.errorString"},
		{OutcomeError, classified(""), "github.com/holdfast-go/holdfast/telemetry.classified"},
		{"lost", nil, "lost"},
	} {
		t.Run(fmt.Sprintf("%s_%v", c.outcome, c.err), func(t *testing.T) {
			g := newRig(t, nil)
			ctx, _ := g.parent()
			var s AcquireSpan
			g.rec.StartAcquire(ctx, &s, AcquireInfo{Name: "n", Kind: KindMutex})
			g.rec.EndAcquire(&s, AcquireEnd{Kind: KindMutex, Outcome: c.outcome, Err: c.err})
			span := g.one()
			wantStatus(t, span, c.want, c.err)

			attrs := map[string]any{
				"holdfast.lock.kind": "mutex", "holdfast.outcome": c.outcome, "holdfast.contended": false,
			}
			if c.want != "" {
				attrs["error.type"] = c.want
			}
			if p := g.find(g.collect(), "holdfast.client.acquire.duration", attrs); p.count != 1 {
				t.Errorf("points = %d, want 1", p.count)
			}
		})
	}
}

// wantStatus checks status, error.type, and that no exception event was added.
func wantStatus(t *testing.T, span sdktrace.ReadOnlySpan, errType string, err error) {
	t.Helper()
	got, has := plain(span.Attributes())["error.type"]
	code, text := codes.Unset, ""
	if errType != "" {
		code = codes.Error
		if err != nil {
			text = err.Error()
		}
		if got != errType {
			t.Errorf("error.type = %v, want %q", got, errType)
		}
	} else if has {
		t.Errorf("error.type = %v on a span that did not fail", got)
	}
	if span.Status().Code != code || span.Status().Description != text {
		t.Errorf("status = %v, want %v %q", span.Status(), code, text)
	}
	if len(span.Events()) != 0 {
		t.Errorf("%d span events, want none", len(span.Events()))
	}
}

// TestWhoIsTraced holds the rule of the package comment, for both spans at once:
// the count of started spans is exact, so nothing is started and thrown away.
func TestWhoIsTraced(t *testing.T) {
	recording := func(g *rig) context.Context { ctx, _ := g.parent(); return ctx }
	remote := func(*rig) context.Context {
		return trace.ContextWithRemoteSpanContext(context.Background(), sampledContext(1))
	}
	over := func(g *rig) context.Context { ctx, p := g.parent(); p.End(); return ctx }
	none := func(*rig) context.Context { return context.Background() }
	for _, c := range []struct {
		name     string
		ctx      func(*rig) context.Context
		explicit bool // a TracerProvider is given
		sampler  sdktrace.Sampler
		want     bool
	}{
		{"recording parent, explicit provider", recording, true, sdktrace.AlwaysSample(), true},
		{"recorded, not sampled parent", recording, true, recordOnly{}, true},
		{"sampled remote parent", remote, true, sdktrace.AlwaysSample(), true},
		{"ended parent", over, true, sdktrace.AlwaysSample(), true},
		{"unsampled parent", recording, true, sdktrace.NeverSample(), false},
		{"no parent, explicit provider", none, true, sdktrace.AlwaysSample(), true},
		{"no parent, sampler says no", none, true, sdktrace.NeverSample(), false},
		{"no parent, global provider", none, false, sdktrace.AlwaysSample(), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, nil, sdktrace.WithSampler(c.sampler))
			rec := g.rec.clone()
			rec.roots = c.explicit
			ctx := c.ctx(g)
			before := len(g.spans.Started())
			var a AcquireSpan
			var h HoldSpan
			rec.StartAcquire(ctx, &a, AcquireInfo{Name: "n"})
			rec.StartHold(ctx, &h, HoldInfo{Name: "n"})
			if a.Recording() != c.want || h.SpanContext().IsValid() != c.want {
				t.Errorf("acquire %v, hold %v, want %v", a.Recording(), h.SpanContext().IsValid(), c.want)
			}
			if wrapped := h.Wrap(ctx); (wrapped != ctx) != c.want {
				t.Errorf("context changed = %v, want %v", wrapped != ctx, c.want)
			}
			a.Blocked(Blocker{Span: sampledContext(1), Owner: "o"})
			rec.EndAcquire(&a, AcquireEnd{Outcome: OutcomeAcquired})
			rec.EndHold(&h, HoldEnd{Reason: ReleaseUnlock})
			want := 0
			if c.want {
				want = 2
			}
			if started := len(g.spans.Started()) - before; started != want || len(g.ended()) != want {
				t.Errorf("started %d, ended %d, want %d", started, len(g.ended()), want)
			}
			// The metrics do not depend on the spans.
			if p := points(t, g.collect()["holdfast.client.acquire.duration"]); len(p) != 1 || p[0].count != 1 {
				t.Errorf("acquire.duration = %v, want one point", p)
			}
		})
	}
}

// clone shares everything but the decision about roots, which stands for "no
// provider was given" without touching the process's global one.
func (r *Recorder) clone() *Recorder {
	return &Recorder{tracer: r.tracer, roots: r.roots, names: r.names, instruments: r.instruments}
}

type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "recordOnly" }

func TestNilAndZeroAreInert(t *testing.T) {
	var r *Recorder
	var a AcquireSpan
	var h HoldSpan
	ctx, span := tracenoop.NewTracerProvider().Tracer("x").Start(context.Background(), "x")
	defer span.End()
	r.StartAcquire(ctx, &a, AcquireInfo{Name: "n"})
	a.Blocked(Blocker{Span: sampledContext(1), Owner: "o"})
	r.EndAcquire(&a, AcquireEnd{})
	r.StartHold(ctx, &h, HoldInfo{Name: "n"})
	r.EndHold(&h, HoldEnd{})
	r.Lost(Loss{})
	r.Released(KindMutex, time.Second, nil)
	r.RenewedBatch(RenewBatch{Renewed: 1})
	r.RenewMargin(time.Second)
	r.Wakeup(WakeupPoll, true)
	r.HandedOff(ScopeLocal, time.Second)
	r.CleanedUp(CleanupCanceled)
	r.Batch(1)
	r.TimerLag(time.Second)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if a.Recording() || h.SpanContext().IsValid() || h.Wrap(ctx) != ctx {
		t.Error("a nil recorder made a span")
	}

	// Nil values instead of zero ones, on a recorder that works.
	g := newRig(t, nil)
	g.rec.StartAcquire(context.Background(), nil, AcquireInfo{})
	g.rec.EndAcquire(nil, AcquireEnd{Outcome: OutcomeAcquired})
	g.rec.StartHold(context.Background(), nil, HoldInfo{})
	g.rec.EndHold(nil, HoldEnd{Reason: ReleaseUnlock})
	(*AcquireSpan)(nil).Blocked(Blocker{})
	if n := (*HoldSpan)(nil); n.SpanContext().IsValid() || n.Wrap(ctx) != ctx {
		t.Error("a nil hold span is not inert")
	}
	if n := len(g.spans.Started()); n != 0 {
		t.Errorf("%d spans, want 0", n)
	}
	if n := len(g.collect()); n != 2 {
		t.Errorf("%d metrics, want acquire and hold duration", n)
	}
}

func TestSpansAreSmall(t *testing.T) {
	if n := unsafe.Sizeof(AcquireSpan{}); n > 128 {
		t.Errorf("AcquireSpan has %d bytes, want at most 128", n)
	}
	if n := unsafe.Sizeof(HoldSpan{}); n > 32 {
		t.Errorf("HoldSpan has %d bytes, want at most 32", n)
	}
}

func TestInvalidUTF8IsEscaped(t *testing.T) {
	g := newRig(t, nil)
	ctx, _ := g.parent()
	var s AcquireSpan
	g.rec.StartAcquire(ctx, &s, AcquireInfo{Name: "a\xff7", Owner: "o\xfe"})
	s.Blocked(Blocker{Span: sampledContext(1), Owner: "b\xfd"})
	g.rec.EndAcquire(&s, AcquireEnd{Outcome: OutcomeError, Err: errors.New("bad \xfc")})
	span := g.one()
	attrs := plain(span.Attributes())
	for _, c := range []struct{ what, got, want string }{
		{"span name", span.Name(), `acquire a\xff{id}`},
		{"lock.name", attrs["holdfast.lock.name"].(string), `a\xff7`},
		{"lock.template", attrs["holdfast.lock.template"].(string), `a\xff{id}`},
		{"owner.id", attrs["holdfast.owner.id"].(string), `o\xfe`},
		{"blocker", attrs["holdfast.blocker.owner.id"].(string), `b\xfd`},
		{"link", plain(span.Links()[0].Attributes)["holdfast.blocker.owner.id"].(string), `b\xfd`},
		{"status", span.Status().Description, `bad \xfc`},
	} {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.what, c.got, c.want)
		}
	}
}
