package actors

import (
	"context"
	"errors"
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

// Regressions, found by a review: panics that hit the wrong call, or nobody.

// badMeter is a meter provider whose release histogram panics while armed.
type badMeter struct {
	mnoop.MeterProvider
	armed atomic.Bool
	hits  atomic.Int32
}

func (p *badMeter) Meter(string, ...metric.MeterOption) metric.Meter { return badInstruments{of: p} }

type badInstruments struct {
	mnoop.Meter
	of *badMeter
}

func (m badInstruments) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return badHistogram{of: m.of, name: name}, nil
}

type badHistogram struct {
	mnoop.Float64Histogram
	of   *badMeter
	name string
}

func (badHistogram) Enabled(context.Context) bool { return true }

func (h badHistogram) Record(context.Context, float64, ...metric.RecordOption) {
	if h.of.armed.Load() && strings.Contains(h.name, "release.duration") {
		h.of.hits.Add(1)
		panic("boom")
	}
}

// The unlock's metric was recorded before its future was settled, and once more
// by the recovery from the panic in that: the second panic went up into the
// pipeline's worker, the future never settled, and the name was stuck.
func TestPanicInReleasedDoesNotWedge(t *testing.T) {
	m := &badMeter{}
	m.armed.Store(true)
	tel, err := telemetry.New(telemetry.Config{MeterProvider: m})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var escaped atomic.Int32
		r := newBubbleRig(t, withTelemetry(tel))
		r.door.change(func(d *fakeDoor) {
			d.carry = func(_ string, run func()) {
				go func() {
					defer func() {
						if recover() != nil {
							escaped.Add(1)
						}
					}()
					run()
				}()
			}
		})
		f := r.take("lock").UnlockAsync()
		pass(time.Minute)
		if _, err, ok := f.TryGet(); !ok || err != nil {
			t.Errorf("the unlock says %v, done %v; Redis did it", err, ok)
		}
		if m.hits.Load() == 0 {
			t.Error("nothing panicked")
		}
		if n := escaped.Load(); n != 0 {
			t.Errorf("%d panics reached the pipeline's worker", n)
		}
		m.armed.Store(false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		h, err := r.acquire(ctx, "lock").Await(ctx)
		if err != nil {
			t.Fatalf("the next acquire: %v", err)
		}
		r.unlock(h)
		r.wantEmpty()
	})
}

// A hand-off's reply is about the unlock, so a panic in the grant to the waiter
// failed the unlock, which had worked, and the waiter was never answered: it held
// a lock that it did not know of.
func TestPanicInAHandOffGrantFailsTheNewHolder(t *testing.T) {
	for _, at := range []string{"start hold", "end acquire"} {
		t.Run(at, func(t *testing.T) {
			b := &bomb{at: at}
			tel, err := telemetry.New(telemetry.Config{TracerProvider: b})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r := newBubbleRig(t, withTelemetry(tel))
				first := r.take("lock")
				waiter := r.acquire(t.Context(), "lock")
				pass(time.Millisecond)
				b.armed.Store(true)
				unlocked := first.UnlockAsync()
				pass(time.Second)
				if _, err, ok := unlocked.TryGet(); !ok || err != nil {
					t.Errorf("the unlock says %v, done %v; Redis did it", err, ok)
				}
				if !b.gone.Load() || r.door.times("handoff") != 1 {
					t.Fatalf("panicked %v, after %d hand-offs", b.gone.Load(), r.door.times("handoff"))
				}
				_, err, ok := waiter.Granted().TryGet()
				if !ok || err == nil || errors.Is(err, ErrNotAcquired) || !strings.Contains(err.Error(), "boom") {
					t.Errorf("the new holder, whose grant panicked, is told %v, done %v", err, ok)
				}
				if owner, _ := r.door.holder("lock"); owner != "" {
					t.Errorf("the lock is %s's, who was told that it is not", owner)
				}
				r.unlock(r.take("lock"))
				waiter.Granted().Cancel(nil)
				pass(time.Minute)
				r.wantEmpty()
			})
		})
	}
}

// badRenew is a door whose first renewal panics.
type badRenew struct {
	*fakeDoor
	tries atomic.Int32
}

func (d *badRenew) Renew(lease time.Duration, prefix string, items []*rediscmd.Renewal, done rediscmd.RenewCompleter) {
	if d.tries.Add(1) == 1 {
		panic("boom")
	}
	d.fakeDoor.Renew(lease, prefix, items, done)
}

// A batch of renewals that panicked on its way out was never answered: its leases
// counted as in flight for ever, and ended although Redis was there.
func TestPanicInRenewLosesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		d := &badRenew{fakeDoor: r.door}
		r.kind.Door = d
		h := r.take("lock")
		pass(10 * r.rules.watchdog)
		if n := d.tries.Load(); n < 20 {
			t.Errorf("%d renewals in ten watchdog timeouts", n)
		}
		if h.ValidFor() <= 0 || h.Context().Err() != nil {
			t.Errorf("the hold has %v left, and its context says %v", h.ValidFor(), context.Cause(h.Context()))
		}
		r.unlock(h)
	})
}
