package stress

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// A waiting future costs no goroutine, and futures of one runtime are granted in
// the order in which they were made.
func TestManyWaitersOfOneName(t *testing.T) {
	const waiters = 20_000
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()))
	l := rt.Lock("crowded")
	h := lock(t, l)
	lock(t, rt.Lock("other")) // the pipeline's workers and the subscriber are up
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()

	before, heap := runtime.NumGoroutine(), heapInUse()
	futures := make([]*future.Future[*holdfast.Hold], waiters)
	for i := range futures {
		futures[i] = l.LockAsync(ctx)
	}
	eventually(t, patience, "the waiters are seen to wait", func() bool {
		st, err := l.Inspect(ctx)
		return err == nil && st.LocalWaiters == waiters
	})
	grown := runtime.NumGoroutine() - before
	t.Logf("%d waiters: %+d goroutines, %d bytes each", waiters, grown, (heapInUse()-heap)/waiters)
	if grown >= 50 {
		t.Errorf("%d waiters cost %d goroutines", waiters, grown)
	}

	began := time.Now()
	unlock(t, h)
	for i, f := range futures {
		next, err := f.Get(ctx)
		if err != nil {
			t.Fatalf("waiter %d: %v", i, err)
		}
		if i+1 < waiters && futures[i+1].IsDone() {
			t.Fatalf("waiter %d was granted while waiter %d holds the lock", i+1, i)
		}
		if err := next.Unlock(ctx); err != nil {
			t.Fatalf("waiter %d: unlock: %v", i, err)
		}
	}
	t.Logf("%.0f hand-overs/s, one reader", waiters/time.Since(began).Seconds())
	if st, err := l.Inspect(ctx); err != nil || st.Locked || st.LocalWaiters != 0 {
		t.Errorf("afterwards: %+v, %v", st, err)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
