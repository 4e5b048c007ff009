package telemetry

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestConcurrentUse runs every method from many goroutines while a collector
// reads, and then counts: nothing may be lost.
func TestConcurrentUse(t *testing.T) {
	const workers, rounds = 8, 200
	g := newRig(t, func() Counts { return Counts{Held: 1} })
	ctx, _ := g.parent()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				name := fmt.Sprintf("%c:%d", 'a'+w, i)
				var a AcquireSpan
				var h HoldSpan
				g.rec.StartAcquire(ctx, &a, AcquireInfo{Name: name, Kind: KindMutex, Owner: name})
				a.Blocked(Blocker{Span: sampledContext(1), Owner: "o", Origin: OriginLocal})
				g.rec.EndAcquire(&a, AcquireEnd{Kind: KindMutex, Outcome: OutcomeAcquired, Contended: i%2 == 0})
				g.rec.StartHold(ctx, &h, HoldInfo{Name: name, Kind: KindMutex})
				g.rec.EndHold(&h, HoldEnd{Kind: KindMutex, Reason: ReleaseUnlock})
				g.rec.Released(KindMutex, time.Second, classified(fmt.Sprint("e", i%5)))
				g.rec.RenewedBatch(RenewBatch{Renewed: 1})
				g.rec.Wakeup(WakeupPoll, i%3 == 0)
				g.rec.Lost(Loss{Kind: KindMutex, Reason: LossExpired})
				g.rec.CleanedUp(CleanupCanceled)
				g.rec.HandedOff(ScopeLocal, time.Second)
				g.rec.RenewMargin(time.Second)
				g.rec.TimerLag(time.Second)
				g.rec.Batch(1)
			}
		})
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				var rm metricdata.ResourceMetrics
				if err := g.reader.Collect(context.Background(), &rm); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	wg.Wait()
	close(stop)
	<-stopped

	if n := len(g.ended()); n != 2*workers*rounds {
		t.Errorf("%d spans, want %d", n, 2*workers*rounds)
	}
	for _, s := range g.ended() {
		// Scratch memory is shared through a pool: a span must have its own values.
		name := plain(s.Attributes())["holdfast.lock.name"].(string)
		if want := name[:1] + ":{id}"; !strings.HasSuffix(s.Name(), " "+want) ||
			plain(s.Attributes())["holdfast.lock.template"] != want {
			t.Fatalf("span %q has the attributes of %q", s.Name(), name)
		}
	}
	m := g.collect()
	for name, metric := range m {
		if strings.HasSuffix(name, ".count") {
			continue
		}
		want := int64(workers * rounds)
		if name == "holdfast.client.wait.duration" {
			want /= 2
		}
		var got int64
		for _, p := range points(t, metric) {
			got += p.count
		}
		if got != want {
			t.Errorf("%s = %d in all, want %d", name, got, want)
		}
	}
	if len(m) != 16 {
		t.Errorf("%d metrics, want all 16", len(m))
	}
}
