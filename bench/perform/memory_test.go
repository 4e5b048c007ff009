package perform

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// do does a job on a server of its own, and returns the server as the job left it.
func do(t *testing.T, job wire.Job) (wire.Sample, *redistest.Server) {
	t.Helper()
	s := redistest.Start(t)
	job.Addr, job.Prefix = s.Addr(), "test:"
	started := 0
	sample, err := Do(t.Context(), job, func() error { started++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if started != 1 {
		t.Errorf("started %d times", started)
	}
	return sample, s
}

func TestHeld(t *testing.T) {
	const locks, interval = 200, 200 * time.Millisecond
	for _, system := range []string{wire.Holdfast, wire.Rueidislock} {
		t.Run(system, func(t *testing.T) {
			sample, s := do(t, wire.Job{
				System: system, Work: wire.Held, Names: locks, InFlight: 16, Seconds: 0.5,
				Lease: 3 * interval.Milliseconds(), Interval: interval.Milliseconds(),
			})
			if sample.Ops != 2*locks {
				t.Errorf("%d renewals in two periods and a half, want %d", sample.Ops, 2*locks)
			}
			if n := sample.Extra[wire.Lost]; n != 0 {
				t.Errorf("%v locks lost", n)
			}
			if b := sample.Extra[wire.BytesEach]; b < 100 {
				t.Errorf("%v bytes per lock", b)
			}
			if each := sample.Goroutines / locks; (each > 0) != (system == wire.Rueidislock) {
				t.Errorf("%d goroutines for %d locks", sample.Goroutines, locks)
			}
			if stats, err := s.MustDo("INFO", "commandstats").ToString(); err != nil || !strings.Contains(stats, "cmdstat_pexpire") {
				t.Errorf("nothing was renewed: %v", err)
			}
		})
	}
}

// A lease that ends is seen.
func TestHeldLost(t *testing.T) {
	s := redistest.Start(t)
	job := wire.Job{
		System: wire.Holdfast, Work: wire.Held, Names: 10, InFlight: 2, Seconds: 0.5,
		Lease: 300, Interval: 100, Addr: s.Addr(), Prefix: "test:",
	}
	sample, err := Do(t.Context(), job, func() error { return s.Do("DEL", "test:1", "test:2").Error() })
	if err != nil {
		t.Fatal(err)
	}
	if n := sample.Extra[wire.Lost]; n != 2 {
		t.Errorf("%v locks lost, want 2", n)
	}
}

func TestWaiting(t *testing.T) {
	const names, waiters = 20, 200
	for _, system := range []string{wire.Holdfast, wire.Rueidislock} {
		t.Run(system, func(t *testing.T) {
			sample, _ := do(t, wire.Job{System: system, Work: wire.Waiting, Names: names, Waiters: waiters})
			if sample.Ops != waiters {
				t.Errorf("%d waiters, want %d", sample.Ops, waiters)
			}
			subscriptions, each := 0.0, 1
			if system == wire.Holdfast {
				subscriptions, each = 1, 0
			}
			if n := sample.Extra[wire.Subscriptions]; n != subscriptions {
				t.Errorf("%v subscriptions per name, want %v", n, subscriptions)
			}
			if n := sample.Goroutines / waiters; n != each {
				t.Errorf("%d goroutines for %d waiters", sample.Goroutines, waiters)
			}
		})
	}
}

func TestChurn(t *testing.T) {
	const names = 1000
	for _, job := range []wire.Job{
		{System: wire.Holdfast, Async: true},
		{System: wire.Holdfast},
		{System: wire.Rueidislock},
	} {
		t.Run(job.System+" "+strconv.FormatBool(job.Async), func(t *testing.T) {
			job.Work, job.N, job.InFlight = wire.Churn, names, 16
			sample, s := do(t, job)
			if sample.Ops != names || sample.Latency.Count() != names {
				t.Errorf("%d pairs, %d latencies, want %d", sample.Ops, sample.Latency.Count(), names)
			}
			for i := 1; i <= tenths; i++ {
				if rate := sample.Extra[wire.RateOfTenth(i)]; rate <= 0 {
					t.Errorf("tenth %d: %v per second", i, rate)
				}
			}
			if n, err := s.MustDo("DBSIZE").AsInt64(); err != nil || n != 0 {
				t.Errorf("%d keys left, %v", n, err)
			}
		})
	}
}

// The names of a supply are different, and a tenth is a tenth.
func TestSupply(t *testing.T) {
	s := newSupply("n", 104)
	seen := map[string]bool{}
	for {
		name, ok := s.next()
		if !ok {
			break
		}
		if seen[name] {
			t.Fatalf("%s again", name)
		}
		seen[name] = true
		if len(seen)%10 == 1 { // the first of a tenth takes its time
			time.Sleep(time.Millisecond)
		}
		s.used(time.Now())
	}
	if len(seen) != 100 || s.done.Load() != 100 {
		t.Errorf("%d names, %d done, want 100", len(seen), s.done.Load())
	}
	for name, rate := range s.rates() {
		if rate <= 0 || rate > 10_000 { // ten names in a millisecond at least
			t.Errorf("%s: %v", name, rate)
		}
	}
}

func TestWorksRefuse(t *testing.T) {
	for _, job := range []wire.Job{
		{System: wire.Holdfast, Work: wire.Held, Names: 10, InFlight: 1},
		{System: wire.Redsync, Work: wire.Held, Names: 10, InFlight: 1, Interval: 100},
		{System: wire.Holdfast, Work: wire.Waiting, Names: 10, Waiters: 9},
		{System: wire.Holdfast, Work: wire.Churn, InFlight: 1, N: 9},
	} {
		_, err := Do(t.Context(), job, func() error { t.Errorf("%+v: started", job); return nil })
		if err == nil {
			t.Errorf("%+v: no error", job)
		}
	}
}
