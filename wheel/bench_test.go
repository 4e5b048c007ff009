package wheel

import (
	"context"
	"syscall"
	"testing"
	"time"
)

func benchWheel(tb testing.TB, handler func([]*Entry[int])) *Wheel[int] {
	w, err := New(Config[int]{Handler: handler})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { w.Stop(context.Background()) })
	return w
}

func ignore([]*Entry[int]) {}

// TestAllocs: an entry costs no allocation, in any of the places where it can be. (Waking a slot does, once per slot.)
func TestAllocs(t *testing.T) {
	w := benchWheel(t, ignore)
	for _, tt := range []struct {
		name  string
		after time.Duration
		exact bool
	}{
		{"coarse", 30 * time.Second, false},
		{"coarse, longer than the ring", time.Hour, false},
		{"exact, far", 30 * time.Second, true},
		{"exact, near", 150 * ms, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e Entry[int]
			got := testing.AllocsPerRun(10_000, func() {
				if err := w.schedule(&e, w.Now()+tt.after, tt.exact); err != nil {
					t.Error(err)
				}
				w.Cancel(&e)
			})
			if got != 0 {
				t.Errorf("%v allocations", got)
			}
		})
	}
}

func benchScheduleCancel(b *testing.B, after time.Duration, exact bool) {
	w := benchWheel(b, ignore)
	var e Entry[int]
	b.ReportAllocs()
	for b.Loop() {
		if err := w.schedule(&e, w.Now()+after, exact); err != nil {
			b.Fatal(err)
		}
		w.Cancel(&e)
	}
}

func BenchmarkCoarse(b *testing.B)    { benchScheduleCancel(b, 10*time.Second, false) }
func BenchmarkExactFar(b *testing.B)  { benchScheduleCancel(b, 10*time.Second, true) }
func BenchmarkExactNear(b *testing.B) { benchScheduleCancel(b, 50*ms, true) }

// BenchmarkCoarseParallel is the price of the one mutex, with callers on every processor.
func BenchmarkCoarseParallel(b *testing.B) {
	w := benchWheel(b, ignore)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var e Entry[int]
		for pb.Next() {
			if err := w.Schedule(&e, w.Now()+10*time.Second); err != nil {
				b.Error(err)
			}
			w.Cancel(&e)
		}
	})
}

// BenchmarkRearm100k moves one of 100 000 scheduled entries, what a watchdog does when its lease is extended.
func BenchmarkRearm100k(b *testing.B) {
	w := benchWheel(b, ignore)
	entries := make([]Entry[int], 100_000)
	for i := range entries {
		if err := w.Schedule(&entries[i], 20*time.Second+time.Duration(i)*100*time.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := w.Schedule(&entries[i], w.Now()+20*time.Second); err != nil {
			b.Fatal(err)
		}
		i = (i + 7919) % len(entries)
	}
}

// BenchmarkRenewals is the whole of it: 100 000 entries that re-arm themselves from Handler every 2 s, spread over the
// slots. One operation is one second of that; cpu-ns/renewal is the process's user and system time per entry fired.
func BenchmarkRenewals(b *testing.B) {
	const n, every = 100_000, 2 * time.Second
	var w *Wheel[int]
	start := make(chan struct{})
	w = benchWheel(b, func(due []*Entry[int]) {
		<-start
		at := w.Now() + every
		for _, e := range due {
			_ = w.Schedule(e, at)
		}
	})
	entries := make([]Entry[int], n)
	for i := range entries {
		if err := w.Schedule(&entries[i], w.Now()+every*time.Duration(i)/n); err != nil {
			b.Fatal(err)
		}
	}
	close(start)
	b.ReportAllocs()
	cpu, fired := cpuTime(), w.Stats().Fired
	for b.Loop() {
		time.Sleep(time.Second)
	}
	cpu, fired = cpuTime()-cpu, w.Stats().Fired-fired
	b.ReportMetric(float64(cpu)/float64(fired), "cpu-ns/renewal")
	b.ReportMetric(float64(fired)/b.Elapsed().Seconds(), "renewals/s")
}

// BenchmarkIdle is a wheel with nothing on it; one operation is one second.
func BenchmarkIdle(b *testing.B) {
	benchWheel(b, ignore)
	b.ReportAllocs()
	cpu := cpuTime()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/1000, "cpu-us/s")
}

// cpuTime is the user and system time of the process.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
