package stress

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// A helper process is this test binary again, with the server's address in its
// environment. It says "ready", storms when its standard input says so, and
// prints what came of it.
const (
	envAddr = "HOLDFAST_STRESS_ADDR"
	envTime = "HOLDFAST_STRESS_TIME"

	processes, processWorkers = 4, 8
)

// outcome is a helper's report, as JSON.
type outcome struct {
	Served []int64
	Errs   []string
	Worst  time.Duration
}

// processMain is the helper's main.
func processMain() int {
	if err := stormAlone(os.Getenv(envAddr), os.Getenv(envTime)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func stormAlone(addr, lasts string) error {
	d, err := time.ParseDuration(lasts)
	if err != nil {
		return err
	}
	rt, err := holdfast.New(option(addr))
	if err != nil {
		return err
	}
	counter := option(addr)
	counter.DisableCache = true
	redis, err := rueidis.NewClient(counter)
	if err != nil {
		return err
	}
	defer redis.Close()
	q := &squad{rt: rt, redis: redis, workers: processWorkers, inside: new(atomic.Int32)}

	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return fmt.Errorf("the parent has gone: %w", err)
	}
	q.run(d)

	o := outcome{Served: q.served}
	for w := range q.workers {
		if q.errs[w] != nil {
			o.Errs = append(o.Errs, q.errs[w].Error())
		}
		o.Worst = max(o.Worst, q.worst[w])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := rt.Close(ctx); err != nil {
		o.Errs = append(o.Errs, fmt.Sprint("Close: ", err))
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}

// helper is a started process, seen from its parent.
type helper struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startHelper starts a process that lives no longer than the test.
func startHelper(t *testing.T, addr string) *helper {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stormTime()+patience)
	t.Cleanup(cancel)
	h := &helper{cmd: exec.CommandContext(ctx, os.Args[0])}
	h.cmd.Env = append(os.Environ(), envAddr+"="+addr, envTime+"="+stormTime().String())
	h.cmd.Stderr = os.Stderr
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out = bufio.NewReader(out)
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := h.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("a helper said %q: %v", line, err)
	}
	return h
}

// result waits for the helper's report and its end.
func (h *helper) result(t *testing.T) outcome {
	t.Helper()
	var o outcome
	if err := json.NewDecoder(h.out).Decode(&o); err != nil {
		t.Errorf("a helper's report: %v", err)
	}
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("a helper: %v", err)
	}
	return o
}

// Four processes on one name.
func TestStormOfProcesses(t *testing.T) {
	s := redistest.Start(t)
	s.MustDo("SET", stormCounter, "0")
	var helpers []*helper
	for range processes {
		helpers = append(helpers, startHelper(t, s.Addr()))
	}
	for _, h := range helpers {
		if _, err := h.in.Write([]byte("go\n")); err != nil {
			t.Fatal(err)
		}
	}
	var sections int64
	var shares []int64
	var worst time.Duration
	for p, h := range helpers {
		o := h.result(t)
		var n int64
		for w, served := range o.Served {
			n += served
			if served == 0 {
				t.Errorf("process %d, worker %d was never served", p, w)
			}
		}
		for _, err := range o.Errs {
			t.Errorf("process %d: %s", p, err)
		}
		if len(o.Served) != processWorkers {
			t.Errorf("process %d reports %d workers", p, len(o.Served))
		}
		sections += n
		shares = append(shares, n)
		worst = max(worst, o.Worst)
	}
	report(t, stormTime(), shares, worst)
	wantCounter(t, s, sections)
}
