package report

import (
	"slices"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		unit  unit
		value float64
		want  string
	}{
		{count, 0, "0"}, {count, 4.271, "4.27"}, {count, 99.97, "100"}, {count, 999.4, "999"},
		{count, 999.6, "1.00 k"}, {count, 24_140, "24.1 k"}, {count, 999_600, "1.00 M"}, {count, 1_204_000, "1.20 M"},
		{perSecond, 231_400, "231 k/s"},
		{duration, 950, "950 ns"}, {duration, 3400, "3.40 µs"}, {duration, 999_700, "1.00 ms"}, {duration, 1.14e9, "1.14 s"},
		{memory, 612.4, "612 B"}, {memory, 9_990, "9990 B"}, {memory, 14_200, "14.2 kB"}, {memory, 20e6, "20 MB"},
	} {
		if got := c.unit(c.value); got != c.want {
			t.Errorf("%g is %q, not %q", c.value, got, c.want)
		}
	}
}

func TestScales(t *testing.T) {
	l := linear(231_400, 100, 0)
	if got := l.ticks(); !slices.Equal(got, []float64{0, 100_000, 200_000, 300_000}) {
		t.Errorf("ticks up to 231 400: %v", got)
	}
	if at := l.at(150_000); at != 50 {
		t.Errorf("half of the axis is at %g", at)
	}
	d := decades(22, 1140, 0, 300)
	if got := d.ticks(); !slices.Equal(got, []float64{10, 100, 1000, 10_000}) {
		t.Errorf("decades from 22 to 1140: %v", got)
	}
	if at := d.at(100); at < 99.99 || at > 100.01 {
		t.Errorf("a third of three decades is at %g of 300", at)
	}
	if d := decades(10, 10, 0, 1); d.at(10) != 0 {
		t.Errorf("one value alone is at %g", d.at(10))
	}
}
