package actors

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
	"github.com/holdfast-go/holdfast/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests: a hang must not look like slowness.
const patience = 30 * time.Second

// rig is a System whose scripts are a fake's: only subscriptions touch the
// server.
type rig struct {
	*System
	tb   testing.TB
	door *fakeDoor
	kind *Kind
}

// newRig makes a System over a real server.
func newRig(tb testing.TB, mods ...func(*Config)) *rig {
	tb.Helper()
	return rigOver(tb, redistest.Start(tb).Client(tb), mods...)
}

// newBubbleRig makes a System inside a synctest bubble.
func newBubbleRig(tb testing.TB, mods ...func(*Config)) *rig {
	tb.Helper()
	return rigOver(tb, redistest.NewBubble(tb).Client(tb), mods...)
}

func rigOver(tb testing.TB, client rueidis.Client, mods ...func(*Config)) *rig {
	tb.Helper()
	redis, err := rediscmd.New(rediscmd.Config{Client: client})
	if err != nil {
		tb.Fatal(err)
	}
	tel, err := telemetry.New(telemetry.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := Config{
		ID: uuid.NewString(), Redis: redis, Telemetry: tel, Logger: slog.New(slog.DiscardHandler),
		WatchdogTimeout: 30 * time.Second, MaxWaiters: 1 << 17, MaxPending: 1 << 20,
	}
	for _, mod := range mods {
		mod(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	door := newFakeDoor()
	r := &rig{System: s, tb: tb, door: door, kind: &Kind{Name: "mutex", Reentrant: true, HandOff: true, Door: door}}
	tb.Cleanup(func() { // twice for some tests: Close can be repeated
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return r
}

// acquire posts an acquire of name, changed by mods.
func (r *rig) acquire(ctx context.Context, name string, mods ...func(*AcquireArgs)) *Hold {
	a := AcquireArgs{Kind: r.kind, Name: name, Key: name}
	for _, mod := range mods {
		mod(&a)
	}
	return r.Acquire(ctx, a)
}

func asTry(a *AcquireArgs)   { a.Try = true }
func watched(a *AcquireArgs) { a.Watch = true }

func by(o Owner) func(*AcquireArgs)                 { return func(a *AcquireArgs) { a.Owner = o } }
func leaseOf(d time.Duration) func(*AcquireArgs)    { return func(a *AcquireArgs) { a.Lease = d } }
func waitAtMost(d time.Duration) func(*AcquireArgs) { return func(a *AcquireArgs) { a.Wait = d } }
func withTelemetry(t *telemetry.Recorder) func(*Config) {
	return func(c *Config) { c.Telemetry = t }
}

// take acquires name and claims it.
func (r *rig) take(name string, mods ...func(*AcquireArgs)) *Hold {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h, err := r.acquire(ctx, name, mods...).Await(ctx)
	if err != nil {
		r.tb.Fatalf("acquire %s: %v", name, err)
	}
	return h
}

// unlock gives h back and has to succeed.
func (r *rig) unlock(h *Hold) {
	r.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Unlock(ctx); err != nil {
		r.tb.Fatalf("unlock %s: %v", h.Name(), err)
	}
}

// wantEmpty waits until nothing is left: no cell, no bound actor, no count.
func (r *rig) wantEmpty() {
	r.tb.Helper()
	_, bound := r.pool.live()
	for end := time.Now().Add(patience / 3); time.Now().Before(end); _, bound = r.pool.live() {
		if r.table.n.Load() == 0 && bound == 0 && r.Counts() == (telemetry.Counts{}) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if n := r.table.n.Load(); n != 0 || bound != 0 {
		r.tb.Errorf("%d cells and %d bound actors are left", n, bound)
	}
	if c := r.Counts(); c != (telemetry.Counts{}) {
		r.tb.Errorf("counts did not return to zero: %+v", c)
	}
	for i := range r.table.shards {
		sh := &r.table.shards[i]
		sh.mu.Lock()
		for _, k := range sh.cells.keys() {
			r.tb.Errorf("a cell is left for %s", k.name)
		}
		sh.mu.Unlock()
	}
}
