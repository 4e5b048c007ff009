package report

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// The colours are the same on every chart. The charts bring their own paper, so
// that they read alike on a light and on a dark page.
const (
	paper  = "#ffffff"
	frame  = "#d0d7de"
	ink    = "#1f2328"
	soft   = "#59636e"
	rule   = "#e6eaef"
	accent = "#0969da"
	grey   = "#a8b1bb"
)

// Sizes of the text, in pixels at the chart's natural width.
const (
	sizeTitle = 18.0
	sizeLabel = 13.0
	sizeSmall = 11.0
)

// canvas collects the elements of one SVG picture. It knows nothing of charts:
// shapes, text, and how wide a text will be.
type canvas struct {
	width, height float64
	body          strings.Builder
}

// anchor says which end of a text stands at its x.
type anchor string

const (
	atStart  anchor = "start"
	atMiddle anchor = "middle"
	atEnd    anchor = "end"
)

// style is how a text looks; the zero value is a plain label.
type style struct {
	size   float64
	colour string
	bold   bool
	anchor anchor
}

func (c *canvas) text(x, y float64, s string, st style) {
	if st.size == 0 {
		st.size = sizeLabel
	}
	if st.colour == "" {
		st.colour = ink
	}
	if st.anchor == "" {
		st.anchor = atStart
	}
	weight := ""
	if st.bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(&c.body, `<text x="%s" y="%s" font-size="%s" fill="%s" text-anchor="%s"%s>%s</text>`+"\n",
		num(x), num(y), num(st.size), st.colour, st.anchor, weight, escape(s))
}

// rect draws a box. hint, if there is one, shows when a mouse rests on it.
func (c *canvas) rect(x, y, w, h float64, look, hint string) {
	fmt.Fprintf(&c.body, `<rect x="%s" y="%s" width="%s" height="%s" %s>%s</rect>`+"\n",
		num(x), num(y), num(w), num(h), look, hintOf(hint))
}

func (c *canvas) line(x1, y1, x2, y2 float64, look string) {
	fmt.Fprintf(&c.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" %s/>`+"\n", num(x1), num(y1), num(x2), num(y2), look)
}

func (c *canvas) dot(x, y, r float64, look, hint string) {
	fmt.Fprintf(&c.body, `<circle cx="%s" cy="%s" r="%s" %s>%s</circle>`+"\n", num(x), num(y), num(r), look, hintOf(hint))
}

// path joins points, given as x, y pairs, by straight lines.
func (c *canvas) path(points [][2]float64, look string) {
	var at strings.Builder
	for i, p := range points {
		if i > 0 {
			at.WriteByte(' ')
		}
		at.WriteString(num(p[0]) + "," + num(p[1]))
	}
	fmt.Fprintf(&c.body, `<polyline points="%s" fill="none" %s/>`+"\n", at.String(), look)
}

// svg returns the picture. title and desc are read aloud to those who cannot see
// it.
func (c *canvas) svg(title, desc string) []byte {
	var out strings.Builder
	w, h := num(c.width), num(c.height)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" font-family="sans-serif">`+"\n", w, h, w, h)
	fmt.Fprintf(&out, "<title>%s</title>\n<desc>%s</desc>\n", escape(title), escape(desc))
	fmt.Fprintf(&out, `<rect x="0.5" y="0.5" width="%s" height="%s" rx="8" fill="%s" stroke="%s"/>`+"\n",
		num(c.width-1), num(c.height-1), paper, frame)
	out.WriteString(c.body.String())
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// widthOf estimates the width of a text at a size. Nobody knows which sans-serif
// the reader has, so it assumes the widest of the common ones: better a gap than
// a cut label.
func widthOf(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune(" .,:;'|ijlftI()/-", r):
			em += 0.38
		case strings.ContainsRune("mwMW%@", r):
			em += 0.97
		case r >= 'A' && r <= 'Z':
			em += 0.72
		default:
			em += 0.63
		}
	}
	return em * size
}

// wrap breaks a text into lines that are no wider than width.
func wrap(s string, size, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && widthOf(line+" "+word, size) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

func hintOf(s string) string {
	if s == "" {
		return ""
	}
	return "<title>" + escape(s) + "</title>"
}

func escape(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // a Builder never fails
	return out.String()
}

// num writes a coordinate: a tenth of a pixel is as fine as anybody can see.
func num(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}
