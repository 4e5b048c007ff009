package wheel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestSlotFor(t *testing.T) {
	g := newGeometry(100*ms, 10*time.Second) // 100 slots ahead
	const heap = -1
	for _, tt := range []struct {
		name  string
		due   time.Duration
		exact bool
		now   time.Duration
		want  int64
	}{
		{"rounded up", 201 * ms, false, 0, 3},
		{"on the slot", 200 * ms, false, 0, 2},
		{"in the current slot", 150 * ms, false, 140 * ms, 2},
		{"one ns away", 140*ms + 1, false, 140 * ms, 2},
		{"now", 140 * ms, false, 140 * ms, heap},
		{"past", 10 * ms, false, 140 * ms, heap},
		{"end of the ring", 10100 * ms, false, 100 * ms, 101},
		{"beyond the ring", 10101 * ms, false, 100 * ms, 101},
		{"for ever", math.MaxInt64, false, 100 * ms, 101},
		{"exact rounded down", 399 * ms, true, 0, 3},
		{"exact on the slot", 400 * ms, true, 0, 4},
		{"exact two slots away", 200 * ms, true, 0, 2},
		{"exact nearer", 399 * ms, true, 101 * ms, heap},
		{"exact past", 10 * ms, true, 140 * ms, heap},
		{"exact beyond the ring", 10 * time.Minute, true, 100 * ms, 101},
		{"exact for ever", math.MaxInt64, true, 100 * ms, 101},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := g.slotFor(tt.due, tt.exact, tt.now)
			if !ok {
				got = heap
			}
			if got != tt.want {
				t.Errorf("slot %d, want %d", got, tt.want)
			}
		})
	}
}

// TestSlotForBounds is the promise of doc.go as arithmetic: a slot is never before a coarse entry and never a granularity
// behind it, never behind an exact one, always in the future, always on the ring.
func TestSlotForBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		gran := minGranularity + rand.N(300*ms)
		g := newGeometry(gran, gran*time.Duration(minSlots+rng.IntN(100)))
		now := time.Duration(rng.Int64N(int64(time.Hour)))
		due := now - time.Second + time.Duration(rng.Int64N(int64(30*time.Second)))
		exact := rng.IntN(2) == 0
		number, ok := g.slotFor(due, exact, now)
		if !ok {
			if !exact && due > now || exact && due >= now+3*gran {
				t.Fatalf("gran %v now %v due %v exact %v: not in the ring", gran, now, due, exact)
			}
			continue
		}
		at, cut := g.at(number), number == int64(now/gran)+g.ahead
		if at <= now || number > int64(now/gran)+g.ahead {
			t.Fatalf("gran %v now %v: slot at %v", gran, now, at)
		}
		if exact && at > due || !exact && at-due >= gran || !exact && at < due && !cut {
			t.Fatalf("gran %v now %v due %v exact %v: slot at %v", gran, now, due, exact, at)
		}
	}
}

// TestGeometryOfLibrary holds the rules that keep the library out of its own traps.
func TestGeometryOfLibrary(t *testing.T) {
	for _, gran := range []time.Duration{4 * ms, 4500 * time.Microsecond, 5 * ms, 10 * ms, 33 * ms, 100 * ms, time.Second, time.Hour} {
		for _, slots := range []time.Duration{minSlots, 17, 640, 5000} {
			g := newGeometry(gran, slots*gran)
			if g.tick < ms || g.tick%ms != 0 || 2*g.tick > gran {
				t.Errorf("gran %v: tick %v", gran, g.tick)
			}
			longest := time.Duration(g.ahead) * gran
			if time.Duration(g.ticks)*g.tick <= longest+2*g.pulse+starved {
				t.Errorf("gran %v: %d ticks of %v for a delay of %v", gran, g.ticks, g.tick, longest)
			}
			if longest < slots*gran {
				t.Errorf("gran %v: %d slots ahead of %d", gran, g.ahead, slots)
			}
			if g.pulse < g.shortest() || g.beat > guardEvery || g.beat > slots*gran/4 {
				t.Errorf("gran %v: beat %v, pulse %v", gran, g.beat, g.pulse)
			}
			// A stalled slot is fired within overdue + beat, and its place must still be its own.
			if time.Duration(g.slots-g.ahead)*gran <= gran+stallGrace+g.beat {
				t.Errorf("gran %v: only %d spare slots", gran, g.slots-g.ahead)
			}
		}
	}
}

func TestOverdue(t *testing.T) {
	g := newGeometry(100*ms, time.Minute)
	for _, tt := range []struct {
		now  time.Duration
		want int64
	}{
		{0, -1},
		{500 * ms, -1},
		{500*ms + 1, 0},
		{600 * ms, 0},
		{600*ms + 1, 1},
		{time.Minute, 594},
	} {
		if got := g.overdue(tt.now); got != tt.want {
			t.Errorf("overdue(%v) = %d, want %d", tt.now, got, tt.want)
		}
	}
}
