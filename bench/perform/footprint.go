package perform

import (
	"runtime"
	"time"
)

// footprint is what this process keeps alive, once everything that nobody needs
// any more is gone.
type footprint struct {
	heap       int64
	stacks     int64 // of goroutines, which are not on the heap
	goroutines int
}

// takeFootprint waits until what a burst has left behind is gone: pools shrink by
// and by.
func takeFootprint() footprint {
	const pause, enough, tries = 100 * time.Millisecond, 4, 50
	f, still := glance(), 0
	for i := 0; i < tries && still < enough; i++ {
		time.Sleep(pause)
		before := f
		still++
		if f = glance(); before.heap-f.heap > before.heap/100 {
			still = 0
		}
	}
	return f
}

// glance collects twice: the first collection only moves the contents of pools
// aside.
func glance() footprint {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{int64(m.HeapAlloc), int64(m.StackInuse), runtime.NumGoroutine()}
}

// since returns what has come since before was taken.
func (f footprint) since(before footprint) footprint {
	return footprint{f.heap - before.heap, f.stacks - before.stacks, f.goroutines - before.goroutines}
}

// per divides the memory among n of what it was taken for.
func (f footprint) per(n int) float64 { return float64(f.heap+f.stacks) / float64(n) }
