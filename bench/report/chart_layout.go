package report

import "strings"

// The measures of a chart, in pixels at its natural width.
const (
	chartWidth  = 860.0
	margin      = 22.0
	gutter      = 30.0
	panelHead   = 40.0 // a panel's title and its note
	captionStep = 15.0
)

// picture is one chart before it is drawn: what it says, panels side by side,
// and the small print.
type picture struct {
	title   string
	finding string // what the figures say, in one sentence
	panels  []panel
	caption string
}

// panel is a part of a chart with an axis of its own.
type panel interface {
	heading() (title, note string)
	height() float64
	draw(c *canvas, x, y, w float64)
	words() string // the values as text, for the description
}

// render lays the picture out.
func (p picture) render() []byte {
	inner := chartWidth - 2*margin
	finding := wrap(p.finding, sizeLabel, inner)
	caption := wrap(p.caption, sizeSmall, inner)
	tallest := 0.0
	for _, q := range p.panels {
		tallest = max(tallest, q.height())
	}
	top := margin + sizeTitle + 6 + float64(len(finding))*(sizeLabel+5) + 16
	foot := top + panelHead + tallest + 14
	c := &canvas{width: chartWidth, height: foot + float64(len(caption))*captionStep + margin - 4}

	y := margin + sizeTitle*0.8
	c.text(margin, y, p.title, style{size: sizeTitle, bold: true})
	y += 6
	for _, line := range finding {
		y += sizeLabel + 5
		c.text(margin, y, line, style{colour: soft})
	}
	width := (inner - gutter*float64(len(p.panels)-1)) / float64(len(p.panels))
	var said []string
	for i, q := range p.panels {
		x := margin + float64(i)*(width+gutter)
		title, note := q.heading()
		c.text(x, top+sizeLabel*0.8, title, style{bold: true})
		c.text(x, top+sizeLabel*0.8+16, note, style{size: sizeSmall, colour: soft})
		q.draw(c, x, top+panelHead, width)
		said = append(said, title+": "+q.words())
	}
	for i, line := range caption {
		c.text(margin, foot+float64(i)*captionStep+sizeSmall, line, style{size: sizeSmall, colour: soft})
	}
	return c.svg(p.title, p.finding+" "+strings.Join(said, ". ")+".")
}
