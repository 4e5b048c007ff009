package perform

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// meter is what this process had used when the measured part began.
type meter struct {
	began  time.Time
	cpu    time.Duration
	allocs uint64
	bytes  uint64
}

// startMeter collects garbage first: what set-up left is not the work's.
func startMeter() (meter, error) {
	runtime.GC()
	return readMeter()
}

// readMeter takes allocations first and CPU time last: reading the former is
// not part of the work.
func readMeter() (meter, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	cpu, err := cpuTime()
	return meter{began: time.Now(), cpu: cpu, allocs: m.Mallocs, bytes: m.TotalAlloc}, err
}

// stop says what was used since then. The caller fills in the rest.
func (m meter) stop() (wire.Sample, error) {
	took := time.Since(m.began)
	cpu, err := cpuTime()
	if err != nil {
		return wire.Sample{}, err
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return wire.Sample{
		Seconds:    took.Seconds(),
		CPUSeconds: (cpu - m.cpu).Seconds(),
		Allocs:     int64(s.Mallocs - m.allocs),
		AllocBytes: int64(s.TotalAlloc - m.bytes),
		HeapBytes:  -1,
		Goroutines: -1,
	}, nil
}

// cpuTime is the CPU time that this process has used, user and system.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
