package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
)

// element is one shape or text of a picture.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

func (e element) num(t *testing.T, attr string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attrs[attr], 64)
	if err != nil {
		t.Fatalf("%s of %+v: %v", attr, e, err)
	}
	return v
}

// parse reads a picture as any XML parser would.
func parse(t *testing.T, svg []byte) (root element, inside []element) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var open []int
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return inside[0], inside[1:]
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			open = append(open, len(inside))
			inside = append(inside, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				inside[open[len(open)-1]].text += string(token)
			}
		}
	}
}

// box is where an element is, texts by a generous estimate of their width.
type box struct{ left, top, right, bottom float64 }

func boxOf(t *testing.T, e element) (box, bool) {
	t.Helper()
	switch e.name {
	case "rect":
		x, y := e.num(t, "x"), e.num(t, "y")
		return box{x, y, x + e.num(t, "width"), y + e.num(t, "height")}, true
	case "circle":
		x, y, r := e.num(t, "cx"), e.num(t, "cy"), e.num(t, "r")
		return box{x - r, y - r, x + r, y + r}, true
	case "line":
		x1, y1, x2, y2 := e.num(t, "x1"), e.num(t, "y1"), e.num(t, "x2"), e.num(t, "y2")
		return box{min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)}, true
	case "polyline":
		var b box
		for i, p := range strings.Fields(e.attrs["points"]) {
			var x, y float64
			if _, err := fmt.Sscanf(p, "%g,%g", &x, &y); err != nil {
				t.Fatalf("point %q: %v", p, err)
			}
			if i == 0 {
				b = box{x, y, x, y}
			}
			b = box{min(b.left, x), min(b.top, y), max(b.right, x), max(b.bottom, y)}
		}
		return b, true
	case "text":
		x, y, size := e.num(t, "x"), e.num(t, "y"), e.num(t, "font-size")
		w := widthOf(e.text, size)
		switch anchor(e.attrs["text-anchor"]) {
		case atMiddle:
			x -= w / 2
		case atEnd:
			x -= w
		}
		return box{x, y - size*0.8, x + w, y + size*0.2}, true
	}
	return box{}, false
}
