package report

import (
	"encoding/json"
	"fmt"
	"os"
)

// Results are everything that a run of the bench found out, as results.json has it.
type Results struct {
	Command  string            `json:"command"`
	Started  string            `json:"started"` // RFC 3339
	Took     float64           `json:"tookSeconds"`
	Short    bool              `json:"short"`
	Rounds   int               `json:"rounds"`
	Seconds  float64           `json:"secondsPerTrial"`
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"` // by system; also "go" and "redis"
	Knobs    map[string]int    `json:"knobs,omitempty"`
	Rows     []Row             `json:"rows"`
}

// Machine is where it ran, client and server both.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Arch   string `json:"arch"`
}

// Row is one line of the table of targets.
type Row struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Unit    string   `json:"unit"` // of an operation, in the plural
	Cells   []Cell   `json:"cells"`
	Targets []Target `json:"targets"`
}

// Cell is one system at one point of a row.
type Cell struct {
	System string `json:"system"`
	Point  string `json:"point,omitempty"` // what is varied: in flight, say
	// Figures are medians over the rounds, by the names of package plan: ops_per_s,
	// p50_us, p99_us, p999_us, client_cpu_us_per_op, allocs_per_op, commands_per_op,
	// calls_per_op, server_cpu_us_per_op and others. What was not measured is missing.
	Figures map[string]float64 `json:"figures"`
	// PerRound are the same figures, round by round.
	PerRound []map[string]float64 `json:"perRound"`
	// Error says why the last trial that failed did.
	Error string `json:"error,omitempty"`
}

// Target is a limit and what was reached.
type Target struct {
	Text   string    `json:"text"`
	Limit  float64   `json:"limit"`
	AtMost bool      `json:"atMost"` // the limit is an upper one
	Value  float64   `json:"value"`  // the median over the rounds
	Known  bool      `json:"known"`  // false: nothing was measured that could tell
	Ok     bool      `json:"ok"`
	Rounds []float64 `json:"rounds"`
}

// Row returns the row of that id, nil if it was not run.
func (r *Results) Row(id string) *Row {
	for i := range r.Rows {
		if r.Rows[i].ID == id {
			return &r.Rows[i]
		}
	}
	return nil
}

// Cell returns a system's cell at a point, nil if it was not run.
func (r *Row) Cell(system, point string) *Cell {
	for i := range r.Cells {
		if c := &r.Cells[i]; c.System == system && c.Point == point {
			return c
		}
	}
	return nil
}

// Write writes results.json.
func (r *Results) Write(name string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	if err := os.WriteFile(name, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// Read reads results.json.
func Read(name string) (*Results, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	r := new(Results)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("results: %s: %w", name, err)
	}
	return r, nil
}
