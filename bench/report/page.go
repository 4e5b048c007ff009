package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// The generated part of a Markdown page is between these two lines.
const (
	pageBegin = "<!-- results: written by make bench -->"
	pageEnd   = "<!-- end of results -->"
)

// UpdatePage puts the results between the marks of a Markdown page. A page that
// does not exist is left alone: results may be written to any folder.
func (r *Results) UpdatePage(name string) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	before, rest, okBegin := strings.Cut(string(b), pageBegin+"\n")
	_, after, okEnd := strings.Cut(rest, pageEnd)
	if !okBegin || !okEnd {
		return fmt.Errorf("page: %s has no line %q followed by %q", name, pageBegin, pageEnd)
	}
	page := before + pageBegin + "\n" + r.Markdown() + pageEnd + after
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// Markdown is the whole of the results as tables.
func (r *Results) Markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s\n\nIt took %.0f s, from %s on.\n", r.provenance(), r.Took, r.Started)
	for _, row := range r.Rows {
		row.markdown(&out)
	}
	out.WriteByte('\n')
	return out.String()
}

func (r *Row) markdown(out *strings.Builder) {
	fmt.Fprintf(out, "\n### %s: %s\n\n", r.ID, r.Title)
	shown := r.columns()
	head, align := "| system |", "| --- |"
	for _, c := range shown {
		head += " " + c.head + " |"
		align += " ---: |"
	}
	fmt.Fprintf(out, "%s\n%s\n", head, align)
	for _, c := range r.Cells {
		fmt.Fprintf(out, "| %s |", strings.TrimSpace(c.System+" "+c.Point))
		for _, col := range shown {
			fmt.Fprintf(out, " %s |", c.show(col.figure))
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "\nAn op is one of the %s.", r.Unit)
	for _, c := range r.Cells {
		if c.Error != "" {
			fmt.Fprintf(out, " %s failed: %s.", strings.TrimSpace(c.System+" "+c.Point), inline(c.Error))
		}
	}
	out.WriteString("\n\n| target | limit | reached | |\n| --- | ---: | ---: | --- |\n")
	for _, t := range r.Targets {
		sign := "≥"
		if t.AtMost {
			sign = "≤"
		}
		fmt.Fprintf(out, "| %s | %s %s | %s | %s |\n", inline(t.Text), sign, Number(t.Limit), t.reached(), t.Word())
	}
}

// column is a figure in a table.
type column = struct{ head, figure string }

// extras are what the page has room for and the terminal has not.
var extras = []column{
	{"Jain index", plan.Jain},
	{"bytes each", wire.BytesEach},
	{"goroutines", plan.Goroutines},
}

// columns are the figures that any system of the row has.
func (r *Row) columns() []column {
	var shown []column
	for _, col := range slices.Concat(columns, extras) {
		if r.has(col.figure) {
			shown = append(shown, col)
		}
	}
	return shown
}

// inline makes a text fit into a cell of a table.
func inline(s string) string {
	return strings.NewReplacer("\n", " ", "|", "\\|").Replace(strings.TrimSpace(s))
}
