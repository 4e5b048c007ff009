package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/bench/perform"
	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/report"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// The test program is its own performer when it is started like one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], performing) {
		if err := perform.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// TestEveryRow runs a tiny version of everything but Java: each trial has to end
// with figures, and what is written has to be read again. It says nothing about
// speed, but what a guard or a watchdog proves is proved here too.
func TestEveryRow(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("CI needs redis-server: %v", err)
		}
		t.Skipf("SKIPPED, nothing was proved: %v", err)
	}
	// A program with the race detector sleeps for a second before it exits.
	t.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	for _, part := range []struct{ rows, systems string }{
		{"W1,W2,W3,W4,W5,W6,W7,W8", strings.Join(goSystems, ",")},
		{"W9", "holdfast,floor"}, // 32768 goroutines of the others are too much for the race detector
	} {
		t.Run(part.rows, func(t *testing.T) { runRows(t, part.rows, part.systems) })
	}
}

func runRows(t *testing.T, rows, systems string) {
	dir := t.TempDir()
	args := []string{"-short", "-seconds", "0.02", "-out", dir, "-rows", rows, "-systems", systems}
	s, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := measure(t.Context(), s, []string{os.Args[0], performing}, args, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	r, err := report.Read(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range plan.All() {
		if got := r.Row(row.ID); (got != nil) != s.wants(row) {
			t.Errorf("%s is in the results: %v", row.ID, got != nil)
		} else if got != nil {
			for _, trial := range row.Trials(s.scale) {
				if s.wantsTrial(trial) {
					checkCell(t, got, trial)
				}
			}
		}
	}
	for name, version := range r.Versions {
		if version == "" {
			t.Errorf("no version of %s", name)
		}
	}
	if t.Failed() {
		t.Logf("%s", &out)
	}
}

func checkCell(t *testing.T, row *report.Row, trial plan.Trial) {
	t.Helper()
	name := strings.Join([]string{row.ID, trial.System, trial.Point}, " ")
	cell := row.Cell(trial.System, trial.Point)
	switch {
	case cell == nil:
		t.Errorf("%s: no cell", name)
	case cell.Error != "":
		t.Errorf("%s: %s", name, cell.Error)
	case cell.Figures[plan.GuardMismatches] != 0:
		t.Errorf("%s: two holders at once: the guard missed %v of %v", name,
			cell.Figures[plan.GuardMismatches], cell.Figures[wire.Guarded])
	case trial.Job.Work == wire.Uncontended && cell.Figures[plan.Ops] == 0 && cell.Figures[plan.CommandsPerOp] == 0:
		t.Errorf("%s: nothing was done", name)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{
		{"-rows", "W0"}, {"-systems", "postgres"}, {"-rounds", "-1"}, {"-seconds", "-1"}, {"-knobs", "pool"}, {"what"},
	} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	s, err := parse([]string{"-rows", "W1,W3", "-systems", "holdfast floor", "-knobs", "pool=8,readers=2", "-short"})
	if err != nil {
		t.Fatal(err)
	}
	if s.rounds != shortRounds || s.scale.Seconds != shortSeconds || !s.scale.Short || s.knobs["pool"] != 8 || s.knobs["readers"] != 2 {
		t.Errorf("%+v", s)
	}
	if !s.wants(plan.Row{ID: "W3"}) || s.wants(plan.Row{ID: "W2"}) {
		t.Error("the rows are not W1 and W3")
	}
	if !s.wantsTrial(plan.Trial{Key: plan.Key{System: "floor"}}) || s.wantsTrial(plan.Trial{Key: plan.Key{System: "redsync"}}) {
		t.Error("the systems are not holdfast and floor")
	}
}
