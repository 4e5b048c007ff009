package stress

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// maxAllocs is what one uncontended lock and unlock may allocate, the pipeline
// and rueidis included, with telemetry off, in whatever form it is asked for.
const maxAllocs = 8

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()))
	l := rt.Lock("lock")
	ctx := context.Background()
	cycle := func() {
		h, err := l.Lock(ctx)
		if err == nil {
			err = h.Unlock(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	async := func() {
		h, err := l.LockAsync(ctx).Get(ctx)
		if err == nil {
			_, err = h.UnlockAsync().Get(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	owner := rt.NewOwner()
	owned := func() {
		h, err := l.Lock(ctx, holdfast.As(owner))
		if err == nil {
			err = h.Unlock(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range map[string]func(){"Lock and Unlock": cycle, "LockAsync and UnlockAsync": async, "Lock as an owner": owned} {
		for range 1000 { // pools, caches and script loads
			f()
		}
		n := testing.AllocsPerRun(2000, f)
		t.Logf("%s: %v allocations", name, n)
		if n > maxAllocs {
			t.Errorf("%s: %v allocations, want at most %d", name, n, maxAllocs)
		}
	}
}
