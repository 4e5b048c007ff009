package conduct

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/plan"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// java is where the performer's source is.
var java = filepath.Join("..", "java")

// TestRedisson lets the Java performer do a little of all its works, one process
// for one after the other, and two at once.
func TestRedisson(t *testing.T) {
	for _, tool := range []string{"redis-server", "java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: the Java performer is not tested", tool)
		}
	}
	if testing.Short() {
		t.Skip("a JVM is slow to start")
	}
	command, err := Redisson(t.Context(), java, 0)
	if err != nil {
		t.Fatal(err)
	}
	server, err := StartServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &Conductor{Server: server, Fleet: NewFleet()}
	c.Fleet.Use(wire.Redisson, command)
	defer func() { // not a Cleanup: the end of t.Context would kill the performers first
		if err := errors.Join(c.Fleet.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	}()
	const little = 0.2
	for _, trial := range []plan.Trial{
		{Job: wire.Job{Work: wire.Uncontended, InFlight: 100, Async: true}},
		{Job: wire.Job{Work: wire.Uncontended, InFlight: 2}},
		{Job: wire.Job{Work: wire.Contended, Waiters: 8}, Processes: 2},
	} {
		trial.System = wire.Redisson
		trial.Job.System, trial.Job.Seconds, trial.Job.Warmup = wire.Redisson, little, little
		f, err := c.Trial(t.Context(), trial, "test")
		if err != nil {
			t.Fatalf("%+v: %v", trial.Job, err)
		}
		if f[plan.Ops] < 1 || f[plan.P50] <= 0 || f[plan.CPUPerOp] <= 0 {
			t.Errorf("%+v: %v", trial.Job, f)
		}
		// a lock and an unlock are two scripts at least
		if f[plan.ScriptsPerOp] < 1.9 {
			t.Errorf("%+v: %g scripts for an op", trial.Job, f[plan.ScriptsPerOp])
		}
		if _, ok := f[plan.AllocsPerOp]; ok {
			t.Errorf("%+v: allocations of a JVM: %v", trial.Job, f)
		}
		if lost, guarded := f[plan.GuardMismatches]; lost != 0 || guarded != (trial.Job.Work == wire.Contended) {
			t.Errorf("%+v: %g grants that the guard did not count, guarded: %t", trial.Job, lost, guarded)
		}
	}
}

func TestRedissonVersionIsTheNewestOfInterop(t *testing.T) {
	ours, err := redissonVersion(filepath.Join(java, "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := redissonVersion(filepath.Join("..", "..", "interop", "java", "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if ours != theirs {
		t.Errorf("the bench runs Redisson %s, interop/ %s", ours, theirs)
	}
}

func TestRedissonWithoutSource(t *testing.T) {
	if _, err := Redisson(t.Context(), t.TempDir(), time.Second); err == nil {
		t.Error("a performer without a source")
	}
}
