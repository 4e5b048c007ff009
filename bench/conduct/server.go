package conduct

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/redis/rueidis"
)

// Server is the redis-server that everything runs against.
type Server struct {
	Addr    string
	Version string

	client rueidis.Client
	cmd    *exec.Cmd // nil if it is somebody else's
	dir    string
}

// StartServer starts a redis-server of its own on a free loopback port, without
// persistence and otherwise as it comes.
func StartServer(ctx context.Context) (*Server, error) {
	dir, err := os.MkdirTemp("", "holdfast-bench-")
	if err != nil {
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	for range 5 { // somebody else may take the port between the choice and the bind
		var s *Server
		if s, err = launch(ctx, dir); err == nil {
			return s, nil
		}
	}
	log, _ := os.ReadFile(filepath.Join(dir, "redis.log"))
	return nil, errors.Join(fmt.Errorf("start redis-server: %w\n%s", err, log), os.RemoveAll(dir))
}

func launch(ctx context.Context, dir string) (*Server, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("redis-server", "--port", port, "--bind", host, "--save", "", "--appendonly", "no",
		"--dir", dir, "--logfile", filepath.Join(dir, "redis.log"))
	cmd.SysProcAttr = attributes()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		var s *Server
		if s, err = Attach(ctx, addr); err == nil {
			s.cmd, s.dir = cmd, dir
			return s, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	return nil, errors.Join(err, cmd.Process.Kill(), ignoreExit(cmd.Wait()))
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Attach uses a server that runs already. Everything in it will be deleted.
func Attach(ctx context.Context, addr string) (*Server, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	s := &Server{Addr: addr, client: client}
	info, err := s.info(ctx, "server")
	if err != nil {
		client.Close()
		return nil, err
	}
	s.Version = info["redis_version"]
	return s, nil
}

// Flush deletes everything.
func (s *Server) Flush(ctx context.Context) error {
	if err := s.client.Do(ctx, s.client.B().Flushall().Sync().Build()).Error(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Close ends the server if it was started here.
func (s *Server) Close() error {
	s.client.Close()
	if s.cmd == nil {
		return nil
	}
	return errors.Join(s.cmd.Process.Kill(), ignoreExit(s.cmd.Wait()), os.RemoveAll(s.dir))
}

// ignoreExit forgets how a process ended that was killed.
func ignoreExit(err error) error {
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil
	}
	return err
}
