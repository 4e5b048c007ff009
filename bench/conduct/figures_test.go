package conduct

import (
	"math"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

func histogram(values ...time.Duration) *wire.Histogram {
	h := new(wire.Histogram)
	for _, v := range values {
		h.Add(v)
	}
	return h
}

// TestFiguresOfTwo: two performers are one system.
func TestFiguresOfTwo(t *testing.T) {
	f := figures(outcome{
		samples: []*wire.Sample{
			{Ops: 100, Served: 150, Seconds: 1, CPUSeconds: 0.2, Allocs: 400, HeapBytes: -1, Goroutines: -1,
				Latency: histogram(1000, 3000), Extra: map[string]float64{wire.Guarded: 100, wire.ChangedHands: 50}},
			{Ops: 300, Served: 450, Seconds: 2, CPUSeconds: 0.2, Allocs: 400, HeapBytes: 5, Goroutines: 2,
				Latency: histogram(2000, 2000), Extra: map[string]float64{wire.Guarded: 300, wire.ChangedHands: 150}},
		},
		load:    load{calls: 2400, commands: 1200, scripts: 600, cpu: 0.06},
		guarded: true, lost: 3,
		watched: plan.Figures{"seen": 7},
	})
	for name, want := range map[string]float64{
		plan.Ops: 400, plan.OpsPerSecond: 250, plan.Seconds: 2,
		plan.CPUPerOp: 1000, plan.AllocsPerOp: 2, plan.Mean: 2, plan.P50: 2, plan.Max: 3,
		plan.CallsPerOp: 4, plan.CommandsPerOp: 2, plan.ScriptsPerOp: 1, plan.ServerCPUPerOp: 100,
		plan.Jain: 0.8, plan.GuardMismatches: 3, plan.HandOversPerSecond: 125, "seen": 7,
	} {
		if got, ok := f[name]; !ok || math.Abs(got-want) > 0.01*want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{plan.HeapBytes, plan.Goroutines} {
		if v, ok := f[name]; ok {
			t.Errorf("%s is %v, though one performer did not measure it", name, v)
		}
	}
}

// TestFiguresOfNothing: what cannot be divided is left out, not written as NaN,
// which JSON has no word for.
func TestFiguresOfNothing(t *testing.T) {
	f := figures(outcome{samples: []*wire.Sample{{Seconds: 1, Allocs: -1, AllocBytes: -1}}})
	for name, v := range f {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %v", name, v)
		}
	}
	if _, ok := f[plan.CPUPerOp]; ok {
		t.Error("a trial without operations has a cost for each")
	}
}

// TestLoad sorts commands by who sent them.
func TestLoad(t *testing.T) {
	before := counters{calls: map[string]int64{"evalsha": 10, "set": 5, "info": 1}, cpu: 1}
	after := counters{calls: map[string]int64{
		"evalsha": 110, "set": 105, "hset": 200, "publish": 50, "client|setinfo": 2, "ping": 3,
		"info": 4, "flushall": 1, "config|get": 6,
	}, cpu: 1.5}
	for system, commands := range map[string]int64{wire.Holdfast: 105, wire.Redsync: 205} {
		got := after.since(before, system)
		if want := (load{calls: 455, commands: commands, scripts: 100, cpu: 0.5}); got != want {
			t.Errorf("%s: %+v, want %+v", system, got, want)
		}
	}
}

func TestJain(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   float64
	}{{[]float64{5, 5, 5, 5}, 1}, {[]float64{9, 0, 0, 0}, 0.25}, {[]float64{1, 3}, 0.8}} {
		if got := jain(c.shares); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("jain(%v) = %v, want %v", c.shares, got, c.want)
		}
	}
}
