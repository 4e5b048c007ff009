package conduct

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// acting makes this test program a performer that behaves as the variable says.
const acting = "HOLDFAST_BENCH_ACT"

func TestMain(m *testing.M) {
	if how := os.Getenv(acting); how != "" {
		if err := act(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// act is one job of a performer that may break off anywhere.
func act(how string) error {
	conn := wire.NewConn(os.Stdin, os.Stdout)
	var job wire.Job
	for conn.Receive(&job) == nil {
		switch how {
		case "leaves":
			return nil
		case "fails":
			if err := conn.Send(wire.Reply{Error: "no lock today"}); err != nil {
				return err
			}
			continue
		case "babbles":
			fmt.Println("hello")
			continue
		}
		if err := conn.Send(wire.Reply{Ready: true}); err != nil {
			return err
		}
		var g wire.Go
		if err := conn.Receive(&g); err != nil || !g.Go {
			return fmt.Errorf("no go: %w", err)
		}
		if err := conn.Send(wire.Reply{Sample: &wire.Sample{
			Ops: 1, Seconds: 1, Extra: map[string]float64{"pid": float64(os.Getpid())},
		}}); err != nil {
			return err
		}
	}
	return nil
}

// stage is a conductor with one performer, and a server.
func stage(t *testing.T, how string, keep bool) *Conductor {
	t.Helper()
	server, err := StartServer(t.Context())
	if err != nil {
		t.Skipf("SKIPPED, nothing was proved: %v", err)
	}
	fleet := NewFleet()
	fleet.Use(wire.Holdfast, Command{Argv: []string{os.Args[0]}, Env: []string{acting + "=" + how}, Keep: keep})
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Conductor{Server: server, Fleet: fleet}
}

var trial = plan.Trial{Key: plan.Key{System: wire.Holdfast}, Processes: 2}

// TestPerformersThatFail: whatever a performer does, its trial ends with an error
// that says so, and the next trial gets fresh ones.
func TestPerformersThatFail(t *testing.T) {
	for how, want := range map[string]string{
		"leaves":  "gone",
		"fails":   "no lock today",
		"babbles": "hello",
	} {
		t.Run(how, func(t *testing.T) {
			c := stage(t, how, true)
			for range 2 {
				if _, err := c.Trial(context.WithoutCancel(t.Context()), trial, ""); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the trial ended with %v, which does not say %q", err, want)
				}
			}
		})
	}
}

// TestKeptPerformers: some do one trial after the other, the others are new in each.
func TestKeptPerformers(t *testing.T) {
	for keep, want := range map[bool]bool{true: true, false: false} {
		c := stage(t, "well", keep)
		var pids []float64
		for range 2 {
			f, err := c.Trial(context.WithoutCancel(t.Context()), trial, "")
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, f["pid"])
		}
		if same := pids[0] == pids[1]; same != want {
			t.Errorf("keep %v: the same performers in both trials: %v", keep, same)
		}
	}
}

func TestNoSuchPerformer(t *testing.T) {
	c := stage(t, "well", false)
	c.Fleet.Use(wire.Redisson, Command{Argv: []string{"/nowhere/java"}})
	for _, system := range []string{wire.Redisson, wire.Redsync} {
		if _, err := c.Trial(t.Context(), plan.Trial{Key: plan.Key{System: system}}, ""); err == nil {
			t.Errorf("%s performed", system)
		}
	}
}

// TestRunGoesOn: a trial that fails does not end the row, an interrupt does.
func TestRunGoesOn(t *testing.T) {
	c := stage(t, "fails", false)
	row := plan.Row{ID: "X", Trials: func(plan.Scale) []plan.Trial { return []plan.Trial{trial} }}
	told := 0
	tell := func(plan.Row, int, int, plan.Trial, plan.Figures, error) { told++ }
	all := func(plan.Trial) bool { return true }
	r, err := c.Run(t.Context(), row, plan.Scale{}, 2, all, tell)
	if err != nil || len(r.Rounds) != 2 || told != 2 || r.Errors[trial.Key] == nil {
		t.Errorf("%d rounds, told of %d, %v, %v", len(r.Rounds), told, r.Errors, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Run(ctx, row, plan.Scale{}, 2, all, tell); err == nil {
		t.Error("the run went on after an interrupt")
	}
}
