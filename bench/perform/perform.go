package perform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Work does one job. It calls start exactly once, when it is set up, warmed up
// and at rest; start returns when the measured part may begin.
type Work func(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error)

// works are all that a performer can do.
var works = map[string]Work{
	wire.Uncontended: uncontended,
	wire.Contended:   contended,
	wire.Held:        held,
	wire.Waiting:     waiting,
	wire.Churn:       churn,
}

// Serve does jobs until in is closed. A job that fails is answered and is not the
// end; a broken conversation is.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	conn := wire.NewConn(in, out)
	for {
		var job wire.Job
		if err := conn.Receive(&job); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		sample, err := Do(ctx, job, func() error { return rendezvous(conn) })
		reply := wire.Reply{Sample: &sample}
		if err != nil {
			reply = wire.Reply{Error: fmt.Sprintf("%s %s: %v", job.System, job.Work, err)}
		}
		if err := conn.Send(reply); err != nil {
			return err
		}
	}
}

// rendezvous says that the performer is ready and waits for go.
func rendezvous(conn *wire.Conn) error {
	if err := conn.Send(wire.Reply{Ready: true}); err != nil {
		return err
	}
	var g wire.Go
	if err := conn.Receive(&g); err != nil {
		return fmt.Errorf("wait for go: %w", err)
	}
	if !g.Go {
		return errors.New("the conductor did not say go")
	}
	return nil
}

// Do does one job. start is called when it is ready.
func Do(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	work, ok := works[job.Work]
	if !ok {
		return wire.Sample{}, fmt.Errorf("there is no work %q", job.Work)
	}
	if job.Profile == "" {
		return work(ctx, job, start)
	}
	file, err := os.Create(job.Profile)
	if err != nil {
		return wire.Sample{}, fmt.Errorf("profile: %w", err)
	}
	defer file.Close()
	defer pprof.StopCPUProfile()
	return work(ctx, job, func() error {
		if err := start(); err != nil {
			return err
		}
		return pprof.StartCPUProfile(file)
	})
}
