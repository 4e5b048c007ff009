package actors

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/metric"
	mnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/telemetry"
)

// panicMeter panics when one instrument is used, so many times.
type panicMeter struct {
	mnoop.MeterProvider
	armed atomic.Bool
	left  atomic.Int32
	name  string
}

func (p *panicMeter) Meter(string, ...metric.MeterOption) metric.Meter { return pInstr{of: p} }

type pInstr struct {
	mnoop.Meter
	of *panicMeter
}

func (m pInstr) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return pHist{of: m.of, name: name}, nil
}
func (m pInstr) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return pCount{of: m.of, name: name}, nil
}

type pHist struct {
	mnoop.Float64Histogram
	of   *panicMeter
	name string
}
type pCount struct {
	mnoop.Int64Counter
	of   *panicMeter
	name string
}

func (pHist) Enabled(context.Context) bool                              { return true }
func (pCount) Enabled(context.Context) bool                             { return true }
func (h pHist) Record(context.Context, float64, ...metric.RecordOption) { h.of.hit(h.name) }
func (h pCount) Add(context.Context, int64, ...metric.AddOption)        { h.of.hit(h.name) }
func (p *panicMeter) hit(name string) {
	if p.armed.Load() && strings.Contains(name, p.name) && p.left.Add(-1) >= 0 {
		panic("boom " + name)
	}
}

func meterTel(t *testing.T, name string, times int32) (*panicMeter, *telemetry.Recorder) {
	m := &panicMeter{name: name}
	m.left.Store(times)
	tel, err := telemetry.New(telemetry.Config{MeterProvider: m})
	if err != nil {
		t.Fatal(err)
	}
	return m, tel
}

// A second panic in one step dropped all effects that were left.
func TestTwoPanicsInOneStep(t *testing.T) {
	m, tel := meterTel(t, "acquire.duration", 2)
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t, withTelemetry(tel))
		r.take("lock")
		var ws []*Hold
		for range 5 {
			ws = append(ws, r.acquire(t.Context(), "lock"))
		}
		pass(time.Millisecond)
		m.armed.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := r.System.Close(ctx)
		if err != nil {
			t.Errorf("Close: %v", err)
		}
		for i, w := range ws {
			if !w.Granted().IsDone() {
				t.Errorf("waiter %d is never answered", i)
			}
		}
		if o, _ := r.door.holder("lock"); o != "" {
			t.Errorf("Redis still has %s", o)
		}
	})
}

// ... and holds were never told that they were lost.
func TestTwoPanicsInALoss(t *testing.T) {
	m, tel := meterTel(t, "loss", 2)
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t, withTelemetry(tel))
		a := r.take("lock")
		b := r.take("lock", by(a.Owner()))
		c := r.take("lock", by(a.Owner()))
		for _, h := range []*Hold{a, b, c} {
			h.Context()
		}
		m.armed.Store(true)
		r.ForceUnlock(r.kind, "lock")
		pass(time.Second)
		for i, h := range []*Hold{a, b, c} {
			if h.ValidFor() > 0 || h.Context().Err() == nil {
				t.Errorf("level %d: valid for %v, context %v", i, h.ValidFor(), h.Context().Err())
			}
		}
		if o, _ := r.door.holder("lock"); o != "" {
			t.Errorf("the force was never sent: %s", o)
		}
	})
}

// A metric that panicked once cost all other leases of the batch.
func TestPanicInRenewMetrics(t *testing.T) {
	m, tel := meterTel(t, "renew", 1)
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t, withTelemetry(tel))
		r.door.change(func(d *fakeDoor) {
			d.carry = func(_ string, run func()) {
				go func() {
					defer func() { _ = recover() }()
					run()
				}()
			}
		})
		var hs []*Hold
		for i := range 50 {
			hs = append(hs, r.take(fmt.Sprint("lock-", i)))
		}
		pass(12 * time.Second)
		m.armed.Store(true)
		pass(60 * time.Second)
		lost := 0
		for _, h := range hs {
			if h.ValidFor() <= 0 {
				lost++
			}
		}
		if lost > 1 {
			t.Errorf("%d of %d holds were lost by one panic", lost, len(hs))
		}
	})
}

// halfRenew panics when two scripts of one item have left, as in a cluster.
type halfRenew struct {
	*fakeDoor
	tries atomic.Int32
	late  []func()
}

func (d *halfRenew) Renew(lease time.Duration, prefix string, items []*rediscmd.Renewal, done rediscmd.RenewCompleter) {
	if d.tries.Add(1) == 1 && len(items) >= 3 {
		for i := range 2 {
			part := items[i : i+1]
			d.late = append(d.late, func() {
				done.Renewed(part, rediscmd.Reply{Outcome: rediscmd.OutcomeUnknown, Err: errFake, SentAt: time.Now()})
			})
		}
		panic("boom")
	}
	d.fakeDoor.Renew(lease, prefix, items, done)
}

// A batch that panicked half way out went back to the pool while a part of it was
// under way.
func TestHalfSentBatchIsNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		d := &halfRenew{fakeDoor: r.door}
		r.kind.Door = d
		for i := range 3 {
			r.take(fmt.Sprint("lock-", i))
		}
		var batch renewals
		for i := range 3 {
			k := key{fmt.Sprint("lock-", i), r.kind}
			c, sh := r.table.at(k)
			tn := c.rest.tenure
			sh.mu.Unlock()
			tn.watch.mu.Lock()
			batch.add(tn)
			tn.watch.mu.Unlock()
		}
		k := batch[0]
		r.renew(k)
		for i, f := range d.late {
			func() {
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("reply %d: the worker panics: %v", i, v)
					}
				}()
				f()
			}()
			if k.kind == nil && i == 0 {
				t.Error("the batch went back to the pool while a part of it is under way")
			}
		}
	})
}
