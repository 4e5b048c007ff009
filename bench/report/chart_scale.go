package report

import (
	"fmt"
	"math"
)

// scale maps values to pixels along one axis.
type scale struct {
	from, to float64 // values
	lo, hi   float64 // pixels: where from and to are
	log      bool
}

func (s scale) at(v float64) float64 {
	f := (v - s.from) / (s.to - s.from)
	if s.log {
		f = math.Log(v/s.from) / math.Log(s.to/s.from)
	}
	return s.lo + f*(s.hi-s.lo)
}

// linear returns a scale from zero to a round value that is at least most.
func linear(most, lo, hi float64) scale {
	if most <= 0 {
		most = 1
	}
	step := niceStep(most)
	return scale{from: 0, to: math.Ceil(most/step) * step, lo: lo, hi: hi}
}

// decades returns a logarithmic scale over whole powers of ten.
func decades(least, most, lo, hi float64) scale {
	from := math.Pow(10, math.Floor(math.Log10(least)))
	to := math.Pow(10, math.Ceil(math.Log10(most)))
	if to <= from {
		to = from * 10
	}
	return scale{from: from, to: to, lo: lo, hi: hi, log: true}
}

// ticks returns the values where an axis gets a rule.
func (s scale) ticks() []float64 {
	var at []float64
	if s.log {
		for v := s.from; v <= s.to*1.001; v *= 10 {
			at = append(at, v)
		}
		return at
	}
	step := niceStep(s.to)
	for i := 0.0; i*step <= s.to*1.001; i++ {
		at = append(at, i*step)
	}
	return at
}

// niceStep is 1, 2 or 5 times a power of ten, for about four steps to most.
func niceStep(most float64) float64 {
	raw := most / 4
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power*1.001 {
			return m * power
		}
	}
	return 10 * power
}

// A unit writes a value as a reader wants to see it.
type unit func(v float64) string

// count is a plain number: 940, 6.07 k, 231 k, 1.20 M.
func count(v float64) string {
	switch {
	case v >= 999_500:
		return three(v/1e6) + " M"
	case v >= 999.5:
		return three(v/1e3) + " k"
	}
	return three(v)
}

// perSecond is a rate.
func perSecond(v float64) string { return count(v) + "/s" }

// duration is a time, given in nanoseconds.
func duration(v float64) string {
	switch {
	case v >= 999.5e6:
		return three(v/1e9) + " s"
	case v >= 999.5e3:
		return three(v/1e6) + " ms"
	case v >= 999.5:
		return three(v/1e3) + " µs"
	}
	return three(v) + " ns"
}

// memory is an amount of memory.
func memory(v float64) string {
	switch {
	case v >= 9_995e3:
		return three(v/1e6) + " MB"
	case v >= 9_995:
		return three(v/1e3) + " kB"
	}
	return fmt.Sprintf("%.0f B", v)
}

// three writes three significant digits, and no decimals that say nothing.
func three(v float64) string {
	switch {
	case v == math.Trunc(v) && v < 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
