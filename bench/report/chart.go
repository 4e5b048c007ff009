package report

import (
	"fmt"
	"os"
	"path/filepath"
)

// Chart is one picture, as a file.
type Chart struct {
	Name string // of the file
	SVG  []byte
}

// drawings are all charts there are, in the order in which a page shows them.
var drawings = []struct {
	name string
	draw func(*Results) (picture, bool)
}{
	{"uncontended.svg", uncontendedPicture},
	{"contended.svg", contendedPicture},
	{"growth.svg", growthPicture},
	{"memory.svg", memoryPicture},
}

// Charts draws what the results have the rows for.
func (r *Results) Charts() []Chart {
	var charts []Chart
	for _, d := range drawings {
		if p, ok := d.draw(r); ok {
			charts = append(charts, Chart{Name: d.name, SVG: p.render()})
		}
	}
	return charts
}

// WriteCharts writes them into a folder.
func (r *Results) WriteCharts(dir string) error {
	for _, c := range r.Charts() {
		if err := os.WriteFile(filepath.Join(dir, c.Name), c.SVG, 0o644); err != nil {
			return fmt.Errorf("chart: %w", err)
		}
	}
	return nil
}
