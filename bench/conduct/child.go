package conduct

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Command is how the performers of a system are started.
type Command struct {
	Argv []string
	Env  []string // besides the conductor's own
	Dir  string
	// Keep lets a performer do the next trial too: a JVM must warm up.
	Keep bool
	// Version is what it performs, for the report; empty for Go modules, which
	// know theirs.
	Version string
}

// child is a performer process.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	conn  *wire.Conn
}

// spawn starts a performer. It is killed when ctx ends.
func spawn(ctx context.Context, c Command) (*child, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("no command line")
	}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start performer: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start performer: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start performer: %w", err)
	}
	return &child{cmd: cmd, stdin: stdin, conn: wire.NewConn(stdout, stdin)}, nil
}

// hear reads a reply, and makes an error of one that says so.
func (c *child) hear() (wire.Reply, error) {
	var r wire.Reply
	err := c.conn.Receive(&r)
	if errors.Is(err, io.EOF) {
		err = errors.New("the performer is gone")
	}
	if err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	return r, err
}

func (c *child) awaitReady() error {
	r, err := c.hear()
	if err == nil && !r.Ready {
		err = errors.New("the performer answered before it was ready")
	}
	return err
}

func (c *child) sample() (*wire.Sample, error) {
	r, err := c.hear()
	if err == nil && r.Sample == nil {
		err = errors.New("the performer answered without a sample")
	}
	return r.Sample, err
}

// end closes the performer's input and waits for it; one that does not end is
// killed.
func (c *child) end() error {
	closed := c.stdin.Close()
	timer := time.AfterFunc(30*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("performer: %w", err)
	}
	return closed
}

// kill ends a performer that is not to be trusted any more.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
