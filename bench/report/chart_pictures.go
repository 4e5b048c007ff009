package report

import (
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// Each function here is one chart: which figures of which row, and the sentence
// above them. That sentence is made of the figures, whichever way they turn out.

const nanosPerMicro = 1e3

// uncontendedPicture is W1.
func uncontendedPicture(r *Results) (picture, bool) {
	row, note := r.Row("W1").best(plan.OpsPerSecond)
	if row == nil {
		return picture{}, false
	}
	rate, okRate := row.figure(wire.Holdfast, plan.OpsPerSecond)
	cpu, okCPU := row.figure(wire.Holdfast, plan.CPUPerOp)
	if !okRate || !okCPU {
		return picture{}, false
	}
	finding := fmt.Sprintf("holdfast: %s pairs/s, each for %s of client CPU.", count(rate), duration(cpu*nanosPerMicro))
	if system, other := row.next(plan.OpsPerSecond); other > 0 {
		theirs, _ := row.figure(system, plan.CPUPerOp)
		finding += fmt.Sprintf(" The next library, %s: %s/s, each for %s.", system, count(other), duration(theirs*nanosPerMicro))
	}
	return picture{
		title:   "Uncontended: lock + unlock, 1024 in flight",
		finding: finding,
		panels: []panel{
			bars{title: "Throughput, pairs", unit: perSecond, of: row.bars(plan.OpsPerSecond, 1)},
			bars{title: "Client CPU for a pair", unit: duration, less: true, of: row.bars(plan.CPUPerOp, nanosPerMicro)},
		},
		caption: "floor: no library, only one lock script and one unlock script for each pair, in batches of 128." +
			note + row.unmeasured() + " " + r.provenance(),
	}, true
}

// contendedPicture is W3.
func contendedPicture(r *Results) (picture, bool) {
	row, note := r.Row("W3").best(plan.HandOversPerSecond)
	if row == nil {
		return picture{}, false
	}
	rate, okRate := row.figure(wire.Holdfast, plan.HandOversPerSecond)
	p99, okP99 := row.figure(wire.Holdfast, plan.P99)
	if !okRate || !okP99 {
		return picture{}, false
	}
	finding := fmt.Sprintf("holdfast: %s hand-overs/s, 99 %% of the waits under %s.", count(rate), duration(p99*nanosPerMicro))
	if system, other := row.next(plan.HandOversPerSecond); other > 0 {
		theirs, _ := row.figure(system, plan.P99)
		finding += fmt.Sprintf(" Of the others %s hands over most, %s/s (%s)", system, count(other), duration(theirs*nanosPerMicro))
		system, other = row.next(plan.OpsPerSecond)
		finding += fmt.Sprintf(", and %s grants most, %s/s, taken again included.", system, count(other))
	}
	return picture{
		title:   "One name, 512 waiters in one process",
		finding: finding,
		panels: []panel{
			bars{title: "Hand-overs, of all grants", note: "more is better; pale: taken again by who had just unlocked", unit: perSecond,
				of: row.parts(plan.HandOversPerSecond, plan.OpsPerSecond)},
			bars{title: "Wait for the lock, 99th percentile", unit: duration, less: true, log: true,
				of: row.bars(plan.P99, nanosPerMicro, wire.Floor, wire.FloorTurns)},
		},
		caption: "floor: no library and no waiters, one loop of one script after the other; floor-turns: the same by 512 goroutines " +
			"in turn. holdfast-futures: its waiters as futures that one goroutine takes." + row.withoutTurn() +
			note + row.unmeasured() + " " + r.provenance(),
	}, true
}

// withoutTurn says where the percentiles are too kind: a waiter that never got the
// lock has no wait that could be counted.
func (r *Row) withoutTurn() string {
	var of []string
	for _, c := range r.Cells {
		if n := c.Figures[wire.Unserved]; n > 0 {
			of = append(of, fmt.Sprintf("%s %s", c.System, count(n)))
		}
	}
	if len(of) == 0 {
		return ""
	}
	return " Waiters that never got the lock in the time, and are in no percentile: " + strings.Join(of, ", ") + "."
}

// growthPicture is W9.
func growthPicture(r *Results) (picture, bool) {
	row, note := r.Row("W9").best(plan.OpsPerSecond)
	if row == nil {
		return picture{}, false
	}
	rates, waits := row.lines(plan.OpsPerSecond, 1), row.lines(plan.P99, nanosPerMicro)
	finding := ""
	for _, s := range rates {
		if s.system == wire.Holdfast {
			first, last, most := s.points[0], s.points[len(s.points)-1], 0.0
			for _, p := range s.points {
				most = max(most, p.y)
			}
			finding = fmt.Sprintf("holdfast: %s pairs/s with %.0f in flight, %s/s at its best, %s/s with %.0f.",
				count(first.y), first.x, count(most), count(last.y), last.x)
		}
	}
	if finding == "" {
		return picture{}, false
	}
	const across = "in flight"
	return picture{
		title:   "As work grows: lock + unlock, more and more in flight",
		finding: finding,
		panels: []panel{
			lines{title: "Throughput, pairs", note: "more is better", across: across, unit: perSecond, of: rates},
			lines{title: "Lock + unlock, 99th percentile", note: "less is better, logarithmic", across: across, unit: duration, log: true, of: waits},
		},
		caption: "floor: no library, only one lock script and one unlock script for each pair, in a few batches of up to 128 however many are in flight, so that its wait does not grow on." +
			note + row.unmeasured() + " " + r.provenance(),
	}, true
}

// memoryPicture is W5, and W6 if it was run.
func memoryPicture(r *Results) (picture, bool) {
	row := r.Row("W5")
	if row == nil {
		return picture{}, false
	}
	each, ok := row.figure(wire.Holdfast, wire.BytesEach)
	if !ok {
		return picture{}, false
	}
	finding := fmt.Sprintf("holdfast keeps a lock, renewals included, in %s", memory(each))
	if n, ok := row.figure(wire.Holdfast, plan.Goroutines); ok {
		finding += fmt.Sprintf(" and adds %s goroutines for all of them together", count(max(n, 0)))
	}
	p := picture{
		title:   "Memory: locks held, and calls that wait",
		finding: finding + ".",
		panels: []panel{
			bars{title: "Memory for a held lock", unit: memory, less: true, of: row.bars(wire.BytesEach, 1)},
			bars{title: "Goroutines for all held locks", unit: count, less: true, of: row.bars(plan.Goroutines, 1)},
		},
		caption: "Heap and stacks of the client. Held: " + row.Title + "." + row.unmeasured(),
	}
	if row := r.Row("W6"); row != nil && len(row.bars(wire.BytesEach, 1)) > 0 {
		p.panels = append(p.panels, bars{title: "Memory for a waiting call", unit: memory, less: true, of: row.bars(wire.BytesEach, 1)})
		p.caption += " Waiting: " + row.Title + "." + row.unmeasured()
	}
	p.caption += " " + r.provenance()
	return p, true
}
