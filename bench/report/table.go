package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// columns are the figures that rows show; those that no cell has are left out.
var columns = []struct{ head, figure string }{
	{"ops/s", plan.OpsPerSecond},
	{"hand-overs/s", plan.HandOversPerSecond},
	{"unserved", wire.Unserved},
	{"p50 us", plan.P50},
	{"p99 us", plan.P99},
	{"p99.9 us", plan.P999},
	{"client us/op", plan.CPUPerOp},
	{"allocs/op", plan.AllocsPerOp},
	{"sent/op", plan.CommandsPerOp},
	{"calls/op", plan.CallsPerOp},
	{"server us/op", plan.ServerCPUPerOp},
}

// Table prints one row: its cells, then its targets.
func (r *Row) Table(w io.Writer) error {
	fmt.Fprintf(w, "\n%s  %s (op: one of the %s)\n\n", r.ID, r.Title, r.Unit)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	lines := make([][]string, len(r.Cells)+1)
	lines[0] = []string{"system"}
	for i, c := range r.Cells {
		lines[i+1] = []string{strings.TrimSpace(c.System + " " + c.Point)}
	}
	for _, col := range r.columns() {
		lines[0] = append(lines[0], col.head)
		for i, c := range r.Cells {
			lines[i+1] = append(lines[i+1], c.show(col.figure))
		}
	}
	for _, cells := range lines {
		fmt.Fprintln(t, strings.Join(cells, "\t")+"\t")
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	for _, c := range r.Cells {
		if c.Error != "" {
			fmt.Fprintf(w, "  FAILED %s %s: %s\n", c.System, c.Point, c.Error)
		}
	}
	fmt.Fprintln(w)
	return r.verdicts(w)
}

// verdicts prints the targets.
func (r *Row) verdicts(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range r.Targets {
		sign := "at least"
		if g.AtMost {
			sign = "at most"
		}
		fmt.Fprintf(t, "  %s\t%s %s\t%s\t%s\n", g.Text, sign, Number(g.Limit), g.reached(), g.Word())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// Word is the verdict in a word.
func (g Target) Word() string {
	switch {
	case !g.Known:
		return "not measured"
	case g.Ok:
		return "ok"
	}
	return "MISS"
}

func (g Target) reached() string {
	if !g.Known {
		return "-"
	}
	return Number(g.Value)
}

func (r *Row) has(figure string) bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool {
		_, ok := c.Figures[figure]
		return ok
	})
}

func (c Cell) show(figure string) string {
	v, ok := c.Figures[figure]
	if !ok {
		return "-"
	}
	return Number(v)
}

// Number shows three significant digits, or a whole number if that is longer.
func Number(v float64) string {
	size := math.Abs(v)
	switch {
	case size == 0:
		return "0"
	case size >= 100 || size == math.Trunc(size):
		return fmt.Sprintf("%.0f", v)
	case size >= 10:
		return fmt.Sprintf("%.1f", v)
	case size >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Summary prints all verdicts, one line each, and how many targets were missed.
func (r *Results) Summary(w io.Writer) error {
	fmt.Fprintf(w, "\nTargets\n\n")
	missed, known := 0, 0
	for i := range r.Rows {
		fmt.Fprintf(w, "%s  %s\n", r.Rows[i].ID, r.Rows[i].Title)
		if err := r.Rows[i].verdicts(w); err != nil {
			return err
		}
		for _, t := range r.Rows[i].Targets {
			if t.Known {
				known++
				if !t.Ok {
					missed++
				}
			}
		}
	}
	_, err := fmt.Fprintf(w, "\n%d of %d targets hold, %d missed\n", known-missed, known, missed)
	return err
}
