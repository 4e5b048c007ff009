package conduct

import (
	"maps"
	"math"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// figures turns what was said into what is reported. Several performers are one
// system: their work, CPU and latencies add up, and so do their extras.
func figures(o outcome) plan.Figures {
	f := plan.Figures{}
	var total wire.Sample
	total.Latency = new(wire.Histogram)
	rate, requests := 0.0, int64(0)
	var shares []float64
	for _, s := range o.samples {
		rate += float64(s.Ops) / s.Seconds
		requests += s.Requests()
		shares = append(shares, float64(s.Ops))
		total.Ops += s.Ops
		total.Seconds = max(total.Seconds, s.Seconds)
		total.CPUSeconds += s.CPUSeconds
		total.Allocs = addKnown(total.Allocs, s.Allocs)
		total.AllocBytes = addKnown(total.AllocBytes, s.AllocBytes)
		total.HeapBytes = addKnown(total.HeapBytes, s.HeapBytes)
		total.Goroutines = int(addKnown(int64(total.Goroutines), int64(s.Goroutines)))
		total.Latency.Merge(s.Latency)
		for name, v := range s.Extra {
			f[name] += v
		}
	}
	ops := float64(total.Ops)
	set(f, plan.Ops, ops)
	set(f, plan.Seconds, total.Seconds)
	set(f, plan.OpsPerSecond, rate)
	set(f, plan.ClientCPU, total.CPUSeconds)
	set(f, plan.CPUPerOp, total.CPUSeconds*1e6/ops)
	setKnown(f, plan.AllocsPerOp, total.Allocs, ops)
	setKnown(f, plan.BytesPerOp, total.AllocBytes, ops)
	setKnown(f, plan.HeapBytes, total.HeapBytes, 1)
	setKnown(f, plan.Goroutines, int64(total.Goroutines), 1)
	latencies(f, total.Latency)
	served := float64(requests)
	set(f, plan.Scripts, float64(o.load.scripts))
	set(f, plan.ScriptsPerOp, float64(o.load.scripts)/served)
	set(f, plan.CommandsPerOp, float64(o.load.commands)/served)
	set(f, plan.CallsPerOp, float64(o.load.calls)/served)
	set(f, plan.ServerCPUPerOp, o.load.cpu*1e6/served)
	if len(shares) > 1 {
		set(f, plan.Jain, jain(shares))
	}
	if o.guarded {
		set(f, plan.GuardMismatches, o.lost)
	}
	if n, ok := handOvers(f); ok {
		set(f, plan.HandOversPerSecond, rate*n/ops)
	}
	maps.Copy(f, o.watched)
	return f
}

// handOvers are the grants that went to somebody else than the last holder. A
// performer that does not tell gets the benefit of the doubt.
func handOvers(f plan.Figures) (float64, bool) {
	if n, ok := f[wire.ChangedHands]; ok {
		return n, true
	}
	n, ok := f[wire.Guarded]
	return n, ok
}

func latencies(f plan.Figures, h *wire.Histogram) {
	for name, q := range map[string]float64{plan.P50: 0.5, plan.P99: 0.99, plan.P999: 0.999} {
		set(f, name, h.Quantile(q)/1e3)
	}
	set(f, plan.Mean, h.Mean()/1e3)
	if h.Count() > 0 {
		set(f, plan.Max, float64(h.Max())/1e3)
	}
	set(f, plan.P99ToMean, h.Quantile(0.99)/h.Mean())
}

// set leaves out what is not a number: nothing was done, or nothing measured.
func set(f plan.Figures, name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		f[name] = v
	}
}

// setKnown leaves out what a performer could not measure.
func setKnown(f plan.Figures, name string, v int64, per float64) {
	if v >= 0 {
		set(f, name, float64(v)/per)
	}
}

// addKnown adds what performers measured; what one did not, the sum is not.
func addKnown(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// jain is Jain's fairness index: 1 if all shares are the same, 1/n if one has all.
func jain(shares []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(shares)) * squares)
}
