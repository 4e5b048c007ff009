package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// bar is one system's value. If it is a part of something, whole is that, and is
// drawn paler behind it.
type bar struct {
	system string
	value  float64
	whole  float64
}

// label is what stands beside the bar.
func (b bar) label(u unit) string {
	if b.whole > b.value && u(b.whole) != u(b.value) {
		return u(b.value) + " of " + u(b.whole)
	}
	return u(b.value)
}

// bars is a panel of one value per system, the best on top. On a logarithmic
// axis a length means nothing, so there the value is a dot.
type bars struct {
	title string
	note  string // instead of whether more or less is better
	unit  unit
	less  bool // less is better
	log   bool
	of    []bar
}

const (
	barStep  = 27.0
	barThick = 17.0
	axisRoom = 18.0
)

func (b bars) heading() (string, string) {
	note := "more is better"
	if b.less {
		note = "less is better"
	}
	if b.log {
		note += ", logarithmic"
	}
	return b.title, cmp.Or(b.note, note)
}

func (b bars) height() float64 {
	h := barStep * float64(len(b.of))
	if b.log {
		h += axisRoom
	}
	return h
}

// sorted returns the bars, the best first.
func (b bars) sorted() []bar {
	of := slices.Clone(b.of)
	slices.SortStableFunc(of, func(p, q bar) int {
		if p.value == q.value {
			return 0
		}
		if (p.value < q.value) == b.less {
			return -1
		}
		return 1
	})
	return of
}

func (b bars) draw(c *canvas, x, y, w float64) {
	of := b.sorted()
	if len(of) == 0 {
		return
	}
	names, values, most, least := 0.0, 0.0, of[0].value, of[0].value
	for _, v := range of {
		names = max(names, widthOf(v.system, sizeLabel))
		values = max(values, widthOf(v.label(b.unit), sizeLabel)*1.1) // the highlighted one is bold
		most, least = max(most, v.value, v.whole), min(least, v.value)
	}
	from := x + names + 8
	to := x + w - values - 8
	axis := scale{to: max(most, 1e-9), lo: from, hi: to}
	if b.log {
		axis = decades(least, most, from, to)
		b.rules(c, axis, y)
	}
	for i, v := range of {
		top := y + float64(i)*barStep + (barStep-barThick)/2
		middle, end := top+barThick/2, axis.at(v.value)
		look := lookOf(v.system)
		st := style{bold: look.bold}
		c.text(from-8, middle+sizeLabel*0.35, v.system, style{bold: look.bold, anchor: atEnd})
		hint := v.system + ": " + v.label(b.unit)
		if b.log {
			c.line(from, middle, end, middle, fmt.Sprintf(`stroke="%s" stroke-width="2"%s`, look.colour, look.dash))
			c.dot(end, middle, 5.5, look.fill(), hint)
			c.text(end+11, middle+sizeLabel*0.35, v.label(b.unit), st)
			continue
		}
		if v.whole > v.value {
			c.rect(end, top, axis.at(v.whole)-end, barThick, fmt.Sprintf(`fill="%s" opacity="0.3"`, look.colour), "")
			end = axis.at(v.whole)
		}
		c.rect(from, top, max(axis.at(v.value)-from, 1), barThick, look.fill(), hint)
		c.text(max(end, from+1)+7, middle+sizeLabel*0.35, v.label(b.unit), st)
	}
	if !b.log {
		c.line(from, y, from, y+b.height(), `stroke="`+soft+`"`)
	}
}

// rules draws the powers of ten behind the dots.
func (b bars) rules(c *canvas, axis scale, y float64) {
	bottom := y + barStep*float64(len(b.of))
	free := 0.0 // of labels, from here to the right
	for _, v := range axis.ticks() {
		at, half := axis.at(v), widthOf(b.unit(v), sizeSmall)/2
		c.line(at, y, at, bottom, `stroke="`+rule+`"`)
		if at-half > free {
			c.text(at, bottom+13, b.unit(v), style{size: sizeSmall, colour: soft, anchor: atMiddle})
			free = at + half + 4
		}
	}
}

func (b bars) words() string {
	var of []string
	for _, v := range b.sorted() {
		of = append(of, v.system+" "+v.label(b.unit))
	}
	return strings.Join(of, ", ")
}

// look is how a system appears: holdfast stands out, the floor is a reference and
// no rival, the others are equals.
type look struct {
	colour string
	dash   string
	bold   bool
	hollow bool
}

func (l look) fill() string {
	if l.hollow {
		return fmt.Sprintf(`fill="%s" stroke="%s" stroke-dasharray="4 3"`, paper, l.colour)
	}
	return fmt.Sprintf(`fill="%s"`, l.colour)
}

func lookOf(system string) look {
	switch system {
	case wire.Holdfast:
		return look{colour: accent, bold: true}
	case wire.HoldfastFutures:
		return look{colour: accent}
	case wire.Floor, wire.FloorTurns:
		return look{colour: soft, dash: ` stroke-dasharray="4 3"`, hollow: true}
	}
	return look{colour: grey}
}
