package report

import (
	"fmt"
	"slices"
	"strings"
)

// point is one value of a line.
type point struct{ x, y float64 }

// series is one system's line.
type series struct {
	system string
	points []point
}

// lines is a panel of values over a number that grows in powers. Each line has
// its name and its last value at its end, so that there is no legend to look up.
type lines struct {
	title, note string
	across      string // what the horizontal axis counts
	unit        unit
	log         bool // the vertical axis too
	of          []series
}

const (
	plotHeight = 250.0
	nameStep   = 15.0 // how close two names at the ends may be
)

// lineColours tell the peers apart where lines cross; the names at the ends have
// the same.
var lineColours = map[string]string{
	"holdfast":    accent,
	"floor":       soft,
	"rueidislock": "#bc4c00",
	"redsync":     "#8250df",
	"redislock":   "#1a7f37",
	"redisson":    "#cf222e",
}

func (l lines) heading() (string, string) { return l.title, l.note }
func (l lines) height() float64           { return plotHeight + 36 }

func (l lines) draw(c *canvas, x, y, w float64) {
	xs, most, least := l.extent()
	if len(xs) == 0 {
		return
	}
	left := 0.0
	vertical := linear(most, y+plotHeight, y+6)
	if l.log {
		vertical = decades(least, most, y+plotHeight, y+6)
	}
	for _, v := range vertical.ticks() {
		left = max(left, widthOf(l.unit(v), sizeSmall))
	}
	names := 0.0
	for _, s := range l.of {
		names = max(names, widthOf(l.label(s), sizeSmall)*1.08)
	}
	from, to := x+left+8, x+w-names-12
	across := scale{from: xs[0], to: max(xs[len(xs)-1], xs[0]*2), lo: from, hi: to, log: true}

	for _, v := range vertical.ticks() {
		at := vertical.at(v)
		c.line(from, at, to, at, `stroke="`+rule+`"`)
		c.text(from-6, at+4, l.unit(v), style{size: sizeSmall, colour: soft, anchor: atEnd})
	}
	for _, v := range xs {
		at := across.at(v)
		c.line(at, y+plotHeight, at, y+plotHeight+4, `stroke="`+soft+`"`)
		c.text(at, y+plotHeight+17, fmt.Sprintf("%.0f", v), style{size: sizeSmall, colour: soft, anchor: atMiddle})
	}
	c.text((from+to)/2, y+plotHeight+33, l.across, style{size: sizeSmall, colour: soft, anchor: atMiddle})

	// holdfast is drawn last, on top of what it crosses
	for _, s := range l.ordered() {
		l.drawLine(c, s, across, vertical)
	}
	l.nameLines(c, across, vertical, to+8, y)
}

func (l lines) drawLine(c *canvas, s series, across, vertical scale) {
	colour, wide, r := colourOf(s.system), "1.6", 2.6
	if lookOf(s.system).bold {
		wide, r = "3", 4.0
	}
	var at [][2]float64
	for _, p := range s.points {
		at = append(at, [2]float64{across.at(p.x), vertical.at(p.y)})
	}
	c.path(at, fmt.Sprintf(`stroke="%s" stroke-width="%s"%s`, colour, wide, lookOf(s.system).dash))
	for i, p := range s.points {
		c.dot(at[i][0], at[i][1], r, fmt.Sprintf(`fill="%s"`, colour),
			fmt.Sprintf("%s, %.0f %s: %s", s.system, p.x, l.across, l.unit(p.y)))
	}
}

// nameLines writes each line's name beside its end, moved apart where lines end
// close to each other, and a thin stroke from the end to the name.
func (l lines) nameLines(c *canvas, across, vertical scale, x, top float64) {
	type name struct {
		s     series
		at, y float64
	}
	var names []name
	for _, s := range l.of {
		at := vertical.at(s.points[len(s.points)-1].y)
		names = append(names, name{s: s, at: at, y: at})
	}
	slices.SortStableFunc(names, func(a, b name) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for i := range names { // push down what is too close to the one above
		if i > 0 {
			names[i].y = max(names[i].y, names[i-1].y+nameStep)
		}
	}
	bottom := top + plotHeight
	for i := len(names) - 1; i >= 0; i-- { // and up again what fell off the plot
		names[i].y = min(names[i].y, bottom)
		bottom = names[i].y - nameStep
	}
	for _, n := range names {
		last := across.at(n.s.points[len(n.s.points)-1].x)
		c.line(last+5, n.at, x-2, n.y, fmt.Sprintf(`stroke="%s" stroke-width="0.7"`, colourOf(n.s.system)))
		c.text(x, n.y+4, l.label(n.s), style{size: sizeSmall, colour: colourOf(n.s.system), bold: lookOf(n.s.system).bold})
	}
}

func (l lines) label(s series) string {
	return s.system + " " + l.unit(s.points[len(s.points)-1].y)
}

// extent returns the places on the horizontal axis, and the range of the values.
func (l lines) extent() (xs []float64, most, least float64) {
	for _, s := range l.of {
		for _, p := range s.points {
			if len(xs) == 0 {
				most, least = p.y, p.y
			}
			most, least = max(most, p.y), min(least, p.y)
			xs = append(xs, p.x)
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs), most, least
}

// ordered puts what stands out last.
func (l lines) ordered() []series {
	of := slices.Clone(l.of)
	slices.SortStableFunc(of, func(a, b series) int {
		switch p, q := lookOf(a.system).bold, lookOf(b.system).bold; {
		case p == q:
			return 0
		case q:
			return -1
		}
		return 1
	})
	return of
}

func (l lines) words() string {
	var of []string
	for _, s := range l.of {
		var vs []string
		for _, p := range s.points {
			vs = append(vs, l.unit(p.y))
		}
		of = append(of, s.system+" "+strings.Join(vs, ", "))
	}
	return strings.Join(of, "; ")
}

func colourOf(system string) string {
	if c, ok := lineColours[system]; ok {
		return c
	}
	return soft
}
