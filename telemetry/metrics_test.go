package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestAcquireMetrics(t *testing.T) {
	g := newRig(t, nil)
	end := func(outcome string, contended bool, took, waited time.Duration) {
		g.rec.EndAcquire(nil, AcquireEnd{
			Kind: KindFair, Outcome: outcome, Contended: contended, Took: took, Waited: waited,
		})
	}
	end(OutcomeAcquired, false, time.Second, time.Hour) // Waited means nothing here
	end(OutcomeAcquired, false, 3*time.Second, 0)
	end(OutcomeAcquired, true, 5*time.Second, 4*time.Second)
	end(OutcomeTimeout, true, 7*time.Second, 7*time.Second)
	end(OutcomeBusy, false, -time.Second, 0) // a clock that went back is no negative time

	m := g.collect()
	attrs := func(outcome string, contended bool) map[string]any {
		return map[string]any{
			"holdfast.lock.kind": "fair", "holdfast.outcome": outcome, "holdfast.contended": contended,
		}
	}
	timeout := attrs(OutcomeTimeout, true)
	timeout["error.type"] = "timeout"
	for _, c := range []struct {
		attrs map[string]any
		count int64
		sum   float64
	}{
		{attrs(OutcomeAcquired, false), 2, 4},
		{attrs(OutcomeAcquired, true), 1, 5},
		{timeout, 1, 7},
		{attrs(OutcomeBusy, false), 1, 0},
	} {
		if p := g.find(m, "holdfast.client.acquire.duration", c.attrs); p.count != c.count || p.sum != c.sum {
			t.Errorf("acquire.duration%v = %d points, sum %v; want %d, %v", c.attrs, p.count, p.sum, c.count, c.sum)
		}
	}
	if n := len(points(t, m["holdfast.client.wait.duration"])); n != 2 {
		t.Errorf("wait.duration has %d series, want 2: contended requests only", n)
	}
	for outcome, sum := range map[string]float64{OutcomeAcquired: 4, OutcomeTimeout: 7} {
		p := g.find(m, "holdfast.client.wait.duration", map[string]any{
			"holdfast.lock.kind": "fair", "holdfast.outcome": outcome,
		})
		if p.count != 1 || p.sum != sum {
			t.Errorf("wait.duration{%s} = %d points, sum %v; want 1, %v", outcome, p.count, p.sum, sum)
		}
	}
}

func TestEventMetrics(t *testing.T) {
	g := newRig(t, nil)
	r := g.rec
	r.Released(KindMutex, 2*time.Second, nil)
	r.Released(KindMutex, 3*time.Second, classified("not_held"))
	r.RenewedBatch(RenewBatch{Took: time.Second, Renewed: 7, Lost: 2})
	r.RenewedBatch(RenewBatch{Took: 2 * time.Second, Failed: 4, Err: classified("unavailable")})
	r.RenewMargin(20 * time.Second)
	r.RenewMargin(-time.Second)
	r.Lost(Loss{Kind: KindSpin, Name: "order:42", Owner: "u:1", Reason: LossGone})
	r.Wakeup(WakeupMessage, true)
	r.Wakeup(WakeupMessage, false)
	r.Wakeup(WakeupMessage, false)
	r.HandedOff(ScopeLocal, time.Second)
	r.CleanedUp(CleanupUnclaimed)
	r.Batch(64)
	r.TimerLag(time.Second)
	r.TimerLag(-time.Minute)

	m := g.collect()
	type attrs = map[string]any
	for _, c := range []struct {
		name  string
		attrs attrs
		count int64
		sum   float64
	}{
		{"client.release.duration", attrs{"holdfast.lock.kind": "mutex"}, 1, 2},
		{"client.release.duration", attrs{"holdfast.lock.kind": "mutex", "error.type": "not_held"}, 1, 3},
		{"client.renew.duration", attrs{}, 1, 1},
		{"client.renew.duration", attrs{"error.type": "unavailable"}, 1, 2},
		{"client.renew.leases", attrs{"holdfast.renew.outcome": "renewed"}, 7, 7},
		{"client.renew.leases", attrs{"holdfast.renew.outcome": "lost"}, 2, 2},
		{"client.renew.leases", attrs{"holdfast.renew.outcome": "error"}, 4, 4},
		{"client.renew.margin", attrs{}, 2, 20},
		{"client.lease.losses", attrs{"holdfast.lock.kind": "spin", "holdfast.loss.reason": "gone"}, 1, 1},
		{"client.wakeups", attrs{"holdfast.wakeup.reason": "message", "holdfast.wakeup.result": "won"}, 1, 1},
		{"client.wakeups", attrs{"holdfast.wakeup.reason": "message", "holdfast.wakeup.result": "lost"}, 2, 2},
		{"client.handoff.duration", attrs{"holdfast.handoff.scope": "local"}, 1, 1},
		{"client.cleanups", attrs{"holdfast.cleanup.cause": "unclaimed"}, 1, 1},
		{"runtime.batch.size", attrs{}, 1, 64},
		{"runtime.timer.lag", attrs{}, 2, 1},
	} {
		if p := g.find(m, "holdfast."+c.name, c.attrs); p.count != c.count || p.sum != c.sum {
			t.Errorf("%s%v = %d, sum %v; want %d, %v", c.name, c.attrs, p.count, p.sum, c.count, c.sum)
		}
	}
	if n := len(points(t, m["holdfast.client.renew.leases"])); n != 3 {
		t.Errorf("renew.leases has %d series, want 3", n)
	}
}

func TestRenewedBatchSkipsZeroCounts(t *testing.T) {
	g := newRig(t, nil)
	g.rec.RenewedBatch(RenewBatch{Took: time.Second, Renewed: 1})
	if n := len(points(t, g.collect()["holdfast.client.renew.leases"])); n != 1 {
		t.Errorf("renew.leases has %d series, want 1", n)
	}
}

// TestNamesMakeNoSeries is the promise about cardinality: 5000 locks and 5000
// owners, sampled or not, are one series of each instrument.
func TestNamesMakeNoSeries(t *testing.T) {
	g := newRig(t, nil)
	ctx, _ := g.parent()
	for i := range 5000 {
		name, owner := fmt.Sprintf("order:%d", i), fmt.Sprintf("u:%d", i)
		var a AcquireSpan
		var h HoldSpan
		if i%10 == 0 {
			g.rec.StartAcquire(ctx, &a, AcquireInfo{Name: name, Kind: KindMutex, Owner: owner})
			g.rec.StartHold(ctx, &h, HoldInfo{Name: name, Kind: KindMutex, Owner: owner})
		}
		g.rec.EndAcquire(&a, AcquireEnd{Name: name, Kind: KindMutex, Outcome: OutcomeAcquired, Contended: true})
		g.rec.EndHold(&h, HoldEnd{Name: name, Kind: KindMutex, Reason: ReleaseUnlock})
		g.rec.Lost(Loss{Name: name, Owner: owner, Kind: KindMutex, Reason: LossExpired})
	}
	m := g.collect()
	for _, name := range []string{"acquire.duration", "wait.duration", "hold.duration", "lease.losses"} {
		ps := points(t, m["holdfast.client."+name])
		if len(ps) != 1 || ps[0].count != 5000 {
			t.Errorf("%s = %d series, want 1 with 5000 points", name, len(ps))
		}
	}
	for _, s := range g.ended() {
		if !strings.HasSuffix(s.Name(), " order:{id}") {
			t.Fatalf("span name %q has a name in it", s.Name())
		}
	}
}

// TestExemplarsLeadToTheName walks the way that the package comment promises:
// from a measurement to its exemplar, to the span, to the lock's name.
func TestExemplarsLeadToTheName(t *testing.T) {
	g := newRig(t, nil)
	ctx, _ := g.parent()
	var a AcquireSpan
	var h HoldSpan
	g.rec.StartAcquire(ctx, &a, AcquireInfo{Name: "slow", Kind: KindMutex})
	g.rec.EndAcquire(&a, AcquireEnd{Kind: KindMutex, Outcome: OutcomeAcquired, Contended: true, Took: time.Second})
	g.rec.StartHold(ctx, &h, HoldInfo{Name: "slow", Kind: KindMutex})
	g.rec.EndHold(&h, HoldEnd{Kind: KindMutex, Reason: ReleaseUnlock, Held: time.Second})
	names := map[exemplar]string{}
	for _, s := range g.ended() {
		id := exemplar{s.SpanContext().TraceID().String(), s.SpanContext().SpanID().String()}
		names[id] = s.Name() + "/" + plain(s.Attributes())["holdfast.lock.name"].(string)
	}
	m := g.collect()
	for metric, want := range map[string]string{
		"acquire.duration": "acquire slow/slow", "wait.duration": "acquire slow/slow", "hold.duration": "hold slow/slow",
	} {
		ps := points(t, m["holdfast.client."+metric])
		if len(ps) != 1 || len(ps[0].exemplars) != 1 {
			t.Fatalf("%s: want one series with one exemplar, have %v", metric, ps)
		}
		if got := names[ps[0].exemplars[0]]; got != want {
			t.Errorf("%s: the exemplar leads to %q, want %q", metric, got, want)
		}
	}
}

// TestBuckets guards the boundaries that the package comment lists: ascending,
// and the ones that reach the reader.
func TestBuckets(t *testing.T) {
	g := newRig(t, nil)
	g.rec.EndAcquire(nil, AcquireEnd{Outcome: OutcomeAcquired})
	g.rec.EndHold(nil, HoldEnd{})
	g.rec.RenewMargin(1)
	g.rec.Batch(1)
	m := g.collect()
	for name, want := range map[string][]float64{
		"holdfast.client.acquire.duration": waitBuckets, "holdfast.client.hold.duration": holdBuckets,
		"holdfast.client.renew.margin": marginBuckets, "holdfast.runtime.batch.size": batchBuckets,
	} {
		if !slices.IsSorted(want) {
			t.Errorf("%s: bounds %v are not ascending", name, want)
		}
		var got []float64
		switch d := m[name].Data.(type) {
		case metricdata.Histogram[float64]:
			got = d.DataPoints[0].Bounds
		case metricdata.Histogram[int64]:
			got = d.DataPoints[0].Bounds
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: bounds %v, want %v", name, got, want)
		}
	}
}
