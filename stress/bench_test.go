package stress

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// cpu is the CPU time that this process has used, user and system. The server's
// is its own.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perPair reports the client's CPU and the throughput of a benchmark whose
// iteration is one lock and one unlock.
func perPair(b *testing.B, began time.Time, used time.Duration) {
	n := float64(b.N)
	b.ReportMetric(float64((cpu()-used).Nanoseconds())/1e3/n, "cpu-us/pair")
	b.ReportMetric(n/time.Since(began).Seconds(), "pairs/s")
}

// BenchmarkInFlight keeps 1024 futures in flight on as many names: lock, unlock,
// lock again, one reader.
func BenchmarkInFlight(b *testing.B) {
	const slots = 1024
	s := redistest.Start(b)
	rt := start(b, option(s.Addr()))
	ctx := context.Background()
	type slot struct {
		lock     *holdfast.Lock
		locked   *future.Future[*holdfast.Hold]
		unlocked *future.Future[struct{}]
	}
	ring := make([]slot, slots)
	for i := range ring {
		ring[i].lock = rt.Lock(fmt.Sprint("bench-", i))
		ring[i].locked = ring[i].lock.LockAsync(ctx)
	}
	turn := func(sl *slot) {
		if sl.locked != nil {
			h, err := sl.locked.Get(ctx)
			if err != nil {
				b.Fatal(err)
			}
			sl.locked, sl.unlocked = nil, h.UnlockAsync()
			return
		}
		if _, err := sl.unlocked.Get(ctx); err != nil {
			b.Fatal(err)
		}
		sl.locked, sl.unlocked = sl.lock.LockAsync(ctx), nil
	}
	for i := range slots / 2 { // half of them lock while the others unlock
		turn(&ring[i])
	}
	b.ReportAllocs()
	began, used, i := time.Now(), cpu(), 0
	for b.Loop() {
		turn(&ring[i%slots])
		turn(&ring[(i+1)%slots])
		i += 2
	}
	perPair(b, began, used)
	b.StopTimer()
	for i := range ring {
		for ring[i].unlocked == nil {
			turn(&ring[i])
		}
		if _, err := ring[i].unlocked.Get(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOneAtATime locks and unlocks one name, blocking.
func BenchmarkOneAtATime(b *testing.B) {
	s := redistest.Start(b)
	l := start(b, option(s.Addr())).Lock("bench")
	ctx := context.Background()
	b.ReportAllocs()
	began, used := time.Now(), cpu()
	for b.Loop() {
		h, err := l.Lock(ctx)
		if err == nil {
			err = h.Unlock(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	perPair(b, began, used)
}
