package rediscmd

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// pair acquires and releases one name over and over, from inside Completed as
// actors do.
type pair struct {
	op   Op
	d    Mutex
	name string
	held bool
	left *int // pairs to go
	done chan struct{}
}

func (p *pair) next() {
	if p.held {
		p.d.Release(&p.op, p, ReleaseArgs{Name: p.name, Owner: Owner{"71b96ce8-2746-4b0e-9a56-0e2f5c6c1a11", 1}})
	} else {
		p.d.Acquire(&p.op, p, AcquireArgs{Name: p.name, Owner: Owner{"71b96ce8-2746-4b0e-9a56-0e2f5c6c1a11", 1}, Lease: lease, Level: 1})
	}
}

func (p *pair) Completed(op *Op) {
	if want := map[bool]Verdict{false: Granted, true: Released}[p.held]; op.Reply.Verdict != want {
		panic(fmt.Sprintf("%+v", op.Reply))
	}
	if p.held = !p.held; !p.held {
		if *p.left--; *p.left <= 0 {
			p.done <- struct{}{}
			return
		}
	}
	p.next()
}

// BenchmarkPairs reports pairs per second and client CPU per pair.
func BenchmarkPairs(b *testing.B) {
	srv := redistest.Start(b)
	for _, inFlight := range []int{1, 64, 1024} {
		for _, workers := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("flight=%d/workers=%d", inFlight, workers), func(b *testing.B) {
				c := newClient(b, Config{Client: srv.Client(b), Workers: workers})
				done := make(chan struct{}, inFlight)
				pairs := make([]pair, inFlight)
				left := make([]int, inFlight)
				b.ReportAllocs()
				b.ResetTimer()
				cpu := cpuTime()
				start := time.Now()
				running := 0
				for i := range pairs {
					if left[i] = (b.N + i) / inFlight; left[i] == 0 {
						continue
					}
					running++
					pairs[i] = pair{d: c.Mutex(), name: fmt.Sprintf("order:%d", i), left: &left[i], done: done}
					pairs[i].next()
				}
				for range running {
					<-done
				}
				b.StopTimer()
				b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "pairs/s")
				b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N)/1000, "cpu-us/pair")
			})
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRenew extends 1024 leases per round.
func BenchmarkRenew(b *testing.B) {
	srv := redistest.Start(b)
	c := newClient(b, Config{Client: srv.Client(b)})
	items := make([]*Renewal, 1024)
	for i := range items {
		items[i] = &Renewal{Name: fmt.Sprintf("order:%d", i), Owner: "1"}
		srv.MustDo("HSET", items[i].Name, "a:1", "1")
	}
	w := renewWaiter{make(chan renewed, len(items))}
	b.ReportAllocs()
	for b.Loop() {
		c.Mutex().Renew(lease, "a:", items, w)
		for back := 0; back < len(items); {
			back += len((<-w.ch).items)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(items))/b.Elapsed().Seconds(), "leases/s")
}
