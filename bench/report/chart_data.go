package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// bars takes one figure of all systems of a row, times a factor that makes the
// unit right. What was not measured has no bar.
func (r *Row) bars(figure string, factor float64, without ...string) []bar {
	var of []bar
	for _, c := range r.Cells {
		if v, ok := c.Figures[figure]; ok && !slices.Contains(without, c.System) {
			// a difference of two readings may come out a little below nothing
			of = append(of, bar{system: c.System, value: max(v*factor, 0)})
		}
	}
	return of
}

// parts are the bars of a figure that is a part of another one.
func (r *Row) parts(figure, of string) []bar {
	bars := r.bars(figure, 1)
	for i := range bars {
		bars[i].whole, _ = r.figure(bars[i].system, of)
	}
	return bars
}

// variants are libraries that run in a second way too: a chart has room for the
// better one.
var variants = map[string]string{
	wire.RedsyncPiped:   wire.Redsync,
	wire.RedislockPiped: wire.Redislock,
}

// best returns the row with one cell for each library, that of the way that does
// more by a rate, under the library's name; and a sentence that says so.
func (r *Row) best(rate string) (*Row, string) {
	if r == nil {
		return nil, ""
	}
	best := *r
	best.Cells = nil
	var replaced []string
	for _, c := range r.Cells {
		if _, ok := variants[c.System]; !ok {
			best.Cells = append(best.Cells, c)
		}
	}
	for _, c := range r.Cells {
		plain := best.Cell(variants[c.System], c.Point)
		if plain != nil && c.Figures[rate] > plain.Figures[rate] {
			plain.Figures = c.Figures
			if !slices.Contains(replaced, plain.System) {
				replaced = append(replaced, plain.System)
			}
		}
	}
	if len(replaced) == 0 {
		return &best, " redsync and redislock are on go-redis' pool."
	}
	return &best, " On go-redis' autopipeline, where they do more than on its pool: " + strings.Join(replaced, ", ") + "."
}

// lines takes one figure of all systems over the points of a row, which are
// numbers. Nothing at all, in a trial that was too short for a system, is no figure.
func (r *Row) lines(figure string, factor float64) []series {
	var of []series
	for _, c := range r.Cells {
		x, err := strconv.ParseFloat(c.Point, 64)
		v, ok := c.Figures[figure]
		if err != nil || !ok || v <= 0 {
			continue
		}
		i := slices.IndexFunc(of, func(s series) bool { return s.system == c.System })
		if i < 0 {
			i, of = len(of), append(of, series{system: c.System})
		}
		of[i].points = append(of[i].points, point{x, v * factor})
	}
	for _, s := range of {
		slices.SortFunc(s.points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	return of
}

// figure is a system's figure at the only point of a row.
func (r *Row) figure(system, name string) (float64, bool) {
	c := r.Cell(system, "")
	if c == nil {
		return 0, false
	}
	v, ok := c.Figures[name]
	return v, ok
}

// notPeers are what is measured that is no other library.
var notPeers = []string{wire.Holdfast, wire.HoldfastFutures, wire.Floor, wire.FloorTurns}

// next returns the other library that does most, by a rate: the floor is none.
func (r *Row) next(figure string) (system string, rate float64) {
	for _, c := range r.Cells {
		v := c.Figures[figure]
		if !slices.Contains(notPeers, c.System) && v > rate {
			system, rate = c.System, v
		}
	}
	return system, rate
}

// unmeasured names the systems that have no figures in a row, and why.
func (r *Row) unmeasured() string {
	var of []string
	for _, c := range r.Cells {
		if len(c.Figures) == 0 {
			of = append(of, strings.TrimSpace(c.System+" "+c.Point))
		}
	}
	if len(of) == 0 {
		return ""
	}
	return " Not measured: " + strings.Join(of, ", ") + "."
}

// provenance is the small print of every chart: what it takes to see the same.
func (r *Results) provenance() string {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		if name != wire.Holdfast { // the one that the chart is kept with
			versions = append(versions, name+" "+strings.TrimPrefix(r.Versions[name], name))
		}
	}
	runs := fmt.Sprintf("Medians of %d rounds of %g s%s.", r.Rounds, r.Seconds, r.split())
	switch {
	case r.Short:
		runs = "A short run with smaller numbers: only to see that it works."
	case r.Rounds == 1:
		runs = fmt.Sprintf("One round of %g s.", r.Seconds)
	}
	return fmt.Sprintf("%s %s, %d cores for client and server together, %s, loopback; %s. In bench/: %s",
		runs, cmp.Or(r.Machine.CPU, "unknown CPU"), r.Machine.Cores, r.Machine.Arch, strings.Join(versions, ", "), r.Command)
}

// split names the rows that had more and shorter rounds.
func (r *Results) split() string {
	var ids []string
	rounds := 0
	for _, row := range r.Rows {
		for _, c := range row.Cells {
			if n := len(c.PerRound); n > r.Rounds && !slices.Contains(ids, row.ID) {
				ids, rounds = append(ids, row.ID), n
			}
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s: %d of %.2g s)", strings.Join(ids, ", "), rounds, r.Seconds*float64(r.Rounds)/float64(rounds))
}
