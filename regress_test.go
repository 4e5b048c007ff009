package holdfast_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Regressions, found by a review of the public API.

// A Locker took the owner out of its ctx, so that a second Lock went in beside
// the first: a mutex that did not exclude, and whose second level was never
// unlocked.
func TestLockerNeverReenters(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second)
	ctx := holdfast.ContextWithOwner(soon(t), rt.NewOwner())
	l := rt.Lock("n")
	locker := l.Locker(ctx)
	locker.Lock()
	second := make(chan any, 1)
	go func() { second <- panicOf(locker.Lock) }()
	eventually(t, "the second Lock waits", func() bool {
		if len(second) > 0 {
			t.Fatalf("two Locks of one Locker at once: %v", r.fields("n"))
		}
		st, err := l.Inspect(soon(t))
		return err == nil && st.LocalWaiters == 1
	})
	for owner, n := range r.fields("n") {
		if n != "1" {
			t.Errorf("%s has %s levels", owner, n)
		}
	}
	locker.Unlock()
	if v := <-second; v != nil {
		t.Fatalf("the second Lock: %v", v)
	}
	locker.Unlock()
	if r.exists("n") {
		t.Error("still locked after as many Unlocks as Locks")
	}
}

// Close waits for the hooks that run. A hook that called Close with a ctx that
// never ends waited for itself, for ever.
func TestCloseInsideOnLost(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	never, cancel := context.WithCancel(context.Background())
	defer cancel() // a test that has failed must not hang as well
	started, closed := make(chan *holdfast.Runtime, 1), make(chan error, 1)
	rt := newRuntime(t, s, 30*time.Second, holdfast.WithOnLost(func(holdfast.LostInfo) {
		closed <- (<-started).Close(never)
	}))
	started <- rt
	mustLock(t, rt.Lock("n"), holdfast.LeaseFor(50*time.Millisecond))
	select {
	case err := <-closed:
		if err != nil {
			t.Errorf("Close: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not return")
	}
	_, err := rt.Lock("n").Lock(soon(t))
	mustBe(t, err, holdfast.ErrClosed)
}

// The runtime's counters are read at every collection, which may come while New
// still works: it read a field that New was writing (the race detector says so).
// What is read afterwards has to be right, too.
func TestCollectionWhileStarting(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	stop, end := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				end <- nil
				return
			default:
			}
			var rm metricdata.ResourceMetrics
			if err := reader.Collect(context.Background(), &rm); err != nil {
				end <- err
				return
			}
		}
	}()
	for range 8 {
		rt := newRuntime(t, s, 30*time.Second, holdfast.WithMeterProvider(provider))
		h := mustLock(t, rt.Lock("n"))
		if n := leases(t, reader); n != 1 {
			t.Errorf("%d leases are counted, want 1", n)
		}
		mustUnlock(t, h)
		if err := rt.Close(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-end; err != nil {
		t.Errorf("a collection: %v", err)
	}
}

// leases collects once and returns how many leases are held.
func leases(t *testing.T, reader metric.Reader) int64 {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(soon(t), &rm); err != nil {
		t.Fatal(err)
	}
	total := int64(-1) // not reported
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || m.Name != "holdfast.client.lease.count" {
				continue
			}
			total = 0
			for _, p := range sum.DataPoints {
				total += p.Value
			}
		}
	}
	return total
}

// Do joined a nil to fn's error, and what it returned was no longer fn's: a
// caller that compares with io.EOF, as many do, did not find it.
func TestDoReturnsTheErrorItself(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 30*time.Second)
	l := rt.Lock("n")
	if err := l.Do(soon(t), func(context.Context) error { return io.EOF }); err != io.EOF {
		t.Errorf("Do returned %#v, want io.EOF itself", err)
	}
	// With something to add, both are there.
	err := l.Do(soon(t), func(context.Context) error {
		if did, err := l.ForceUnlock(soon(t)); !did || err != nil {
			t.Errorf("ForceUnlock: %v, %v", did, err)
		}
		return io.EOF
	})
	if mustBe(t, err, io.EOF, holdfast.ErrLost); errors.Is(err, holdfast.ErrReleased) {
		t.Errorf("a lock that was lost says it was released: %v", err)
	}
}

// An unlock that was sent again, while its owner's next call waited, passed the lock
// to that call by taking it away from the owner: nobody had it, and two could.
func TestRetriedUnlockWithTheOwnersNextCall(t *testing.T) {
	srv := redistest.Start(t)
	p := redistest.NewProxy(t, srv.Addr())
	rt := newRuntimeAt(t, p.Addr(), 6*time.Second)
	other := newRuntimeAt(t, srv.Addr(), 6*time.Second)
	owner := rt.NewOwner()
	h := mustLock(t, rt.Lock("k"), holdfast.As(owner))
	p.SetMode(redistest.Blackhole) // a network that stalls for a moment
	unlocked := h.UnlockAsync()
	time.Sleep(20 * time.Millisecond)
	next := rt.Lock("k").LockAsync(t.Context(), holdfast.As(owner))
	time.Sleep(100 * time.Millisecond)
	p.SetMode(redistest.Pass)
	mustGet(t, unlocked)
	mine := mustGet(t, next)
	if theirs, err := other.Lock("k").TryLock(t.Context()); err == nil {
		t.Errorf("two owners: mine is valid for %v more, theirs for %v", mine.ValidFor(), theirs.ValidFor())
	}
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
}
