package telemetry

import (
	"errors"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
)

func TestHoldSpan(t *testing.T) {
	g := newRig(t, nil)
	ctx, parent := g.parent()
	var h HoldSpan
	g.rec.StartHold(ctx, &h, HoldInfo{
		Name: "order:42", Kind: KindMutex, Owner: "u:1", LeaseMode: LeaseWatchdog, Count: 2, At: grant,
	})
	sc := h.SpanContext()
	inner := h.Wrap(ctx)
	_, work := g.tp.Tracer("user").Start(inner, "inside")
	work.End()
	g.rec.EndHold(&h, HoldEnd{
		Kind: KindMutex, Reason: ReleaseUnlock, Held: time.Minute,
		Renewals: 5, MinMargin: 19500 * time.Millisecond, At: grant.Add(time.Minute),
	})
	if h.SpanContext().IsValid() || h.Wrap(ctx) != ctx {
		t.Error("not inert after the end")
	}

	span := g.one()
	if span.Name() != "hold order:{id}" || span.SpanKind() != trace.SpanKindInternal {
		t.Errorf("span = %q %v", span.Name(), span.SpanKind())
	}
	if span.Parent().SpanID() != parent.SpanContext().SpanID() {
		t.Error("the parent is not the caller's span")
	}
	if !span.SpanContext().Equal(sc) {
		t.Error("SpanContext is not the span's")
	}
	if inside := g.spans.Ended()[0]; inside.Name() != "inside" || inside.Parent().SpanID() != sc.SpanID() {
		t.Error("work under the lock is not a child of the hold")
	}
	if !span.StartTime().Equal(grant) || !span.EndTime().Equal(grant.Add(time.Minute)) {
		t.Errorf("span lasts from %v to %v", span.StartTime(), span.EndTime())
	}
	wantStatus(t, span, "", nil)
	wantAttrs(t, "hold", span.Attributes(), map[string]any{
		"holdfast.lock.name": "order:42", "holdfast.lock.template": "order:{id}", "holdfast.lock.kind": "mutex",
		"holdfast.owner.id": "u:1", "holdfast.hold.count": int64(2), "holdfast.lease.mode": "watchdog",
		"holdfast.release.reason": "unlock", "holdfast.renewals": int64(5), "holdfast.renew.margin.min": 19.5,
	})
}

func TestHoldStatus(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		err          error
		want         string
	}{
		{"unlocked", ReleaseUnlock, nil, ""},
		{"unclaimed", ReleaseUnclaimed, nil, ""},
		{"closed", ReleaseClose, nil, ""},
		{"lost", ReleaseLost, nil, "lease_lost"},
		{"lost, with a plain error", ReleaseLost, errors.New("gone"), "lease_lost"},
		{"lost, with a class", ReleaseLost, classified("failover"), "failover"},
		{"unlock failed", ReleaseUnlock, classified("not_held"), "not_held"},
		{"unlock failed, plain error", ReleaseClose, errors.New("io"), "*errors.errorString"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, nil)
			ctx, _ := g.parent()
			var h HoldSpan
			g.rec.StartHold(ctx, &h, HoldInfo{Name: "n"})
			g.rec.EndHold(&h, HoldEnd{Kind: KindMutex, Reason: c.reason, Err: c.err, Held: time.Second})
			span := g.one()
			wantStatus(t, span, c.want, c.err)
			if _, has := plain(span.Attributes())["holdfast.renew.margin.min"]; has {
				t.Error("a margin without a renewal")
			}
			p := g.find(g.collect(), "holdfast.client.hold.duration", map[string]any{
				"holdfast.lock.kind": "mutex", "holdfast.release.reason": c.reason,
			})
			if p.count != 1 || p.sum != 1 {
				t.Errorf("hold.duration = %d points, sum %v", p.count, p.sum)
			}
		})
	}
}

// TestAcquireAndHoldMeet holds that the two spans of one cycle are siblings that
// touch: no gap, no overlap, and the waiter's link leads to the holder's hold.
func TestAcquireAndHoldMeet(t *testing.T) {
	g := newRig(t, nil)
	ctx, parent := g.parent()
	var a, waiter AcquireSpan
	var h HoldSpan
	g.rec.StartAcquire(ctx, &a, AcquireInfo{Name: "n", Owner: "u:1"})
	g.rec.EndAcquire(&a, AcquireEnd{Outcome: OutcomeAcquired, At: grant})
	g.rec.StartHold(ctx, &h, HoldInfo{Name: "n", Owner: "u:1", At: grant})
	g.rec.StartAcquire(ctx, &waiter, AcquireInfo{Name: "n", Owner: "u:2"})
	waiter.Blocked(Blocker{Span: h.SpanContext(), Owner: "u:1", Origin: OriginLocal})
	g.rec.EndHold(&h, HoldEnd{Reason: ReleaseUnlock})
	g.rec.EndAcquire(&waiter, AcquireEnd{Outcome: OutcomeAcquired, Contended: true})

	spans := g.ended()
	if len(spans) != 3 {
		t.Fatalf("%d spans, want 3", len(spans))
	}
	acq, hold, wait := spans[0], spans[1], spans[2]
	if !acq.EndTime().Equal(hold.StartTime()) {
		t.Errorf("acquire ends at %v, hold starts at %v", acq.EndTime(), hold.StartTime())
	}
	for _, s := range spans {
		if s.Parent().SpanID() != parent.SpanContext().SpanID() {
			t.Errorf("%s is not a child of the caller", s.Name())
		}
	}
	if len(wait.Links()) != 1 || !wait.Links()[0].SpanContext.Equal(hold.SpanContext()) {
		t.Errorf("the waiter's links %v do not lead to the hold", wait.Links())
	}
	if plain(wait.Attributes())["holdfast.blocker.owner.id"] != plain(hold.Attributes())["holdfast.owner.id"] {
		t.Error("blocker and owner do not join")
	}
}
