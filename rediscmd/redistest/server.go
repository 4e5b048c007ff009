package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// Server is a redis-server process of this test, on a free loopback port, without
// persistence. It is killed when the test ends.
type Server struct {
	tb   testing.TB
	port string
	args []string
	dir  string

	mu    sync.Mutex
	cmd   *exec.Cmd
	admin rueidis.Client
}

// Start starts a server with args after the defaults, and returns when it answers.
// Without a redis-server binary the test is skipped, or fails where the environment
// variable CI is set.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatalf("redistest: CI needs redis-server: %v", err)
		}
		tb.Skipf("redistest: SKIPPED, nothing was proved against a real server: %v", err)
	}
	s := &Server{tb: tb, args: args, dir: tb.TempDir()}
	tb.Cleanup(s.shutdown)
	var err error
	for range 5 { // somebody else may take the port between the choice and the bind
		s.port = freePort(tb)
		if err = s.launch(); err == nil {
			return s
		}
	}
	tb.Fatalf("redistest: start redis-server: %v", err)
	return nil
}

func freePort(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// Addr returns host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", s.port) }

// Option returns what a client needs to reach the server: one connection attempt
// lasts a second at most, a silent connection is noticed after about two.
func (s *Server) Option() rueidis.ClientOption { return option(s.Addr()) }

func option(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress:         []string{addr},
		ForceSingleClient:   true,
		DisableCache:        true,
		DisableRetry:        true,
		ConnWriteTimeout:    time.Second,
		Dialer:              net.Dialer{Timeout: time.Second, KeepAlive: time.Second},
		ReadBufferEachConn:  1 << 14,
		WriteBufferEachConn: 1 << 14,
	}
}

// Client connects with Option, changed by mods, and is closed when the test ends.
func (s *Server) Client(tb testing.TB, mods ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	o := s.Option()
	for _, mod := range mods {
		mod(&o)
	}
	c, err := rueidis.NewClient(o)
	if err != nil {
		tb.Fatalf("redistest: connect: %v", err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Do runs one command on a connection of its own, as redis-cli would. It gives up
// after five seconds.
func (s *Server) Do(args ...string) rueidis.RedisResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admin == nil {
		c, err := rueidis.NewClient(s.Option())
		if err != nil {
			return rueidis.NewErrorResult(err)
		}
		s.admin = c
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.admin.Do(ctx, s.admin.B().Arbitrary(args[0]).Args(args[1:]...).Build())
}

// MustDo is Do for a command that has to succeed. It may only be called on the
// test's goroutine.
func (s *Server) MustDo(args ...string) rueidis.RedisResult {
	s.tb.Helper()
	r := s.Do(args...)
	if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
		s.tb.Fatalf("redistest: %v: %v", args, err)
	}
	return r
}

// Pause freezes the process (SIGSTOP): connections stay open, nothing answers.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends Pause. What had been sent meanwhile is executed now.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// Kill ends the process without a goodbye (SIGKILL), and its data with it.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

// Restart kills the process if it runs, and starts an empty one on the same port.
func (s *Server) Restart() {
	s.tb.Helper()
	s.Kill()
	if err := s.launch(); err != nil {
		s.tb.Fatalf("redistest: restart redis-server: %v", err)
	}
}

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(sig)
	}
}

func (s *Server) launch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	args := append([]string{
		"--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.dir, "--logfile", filepath.Join(s.dir, "redis.log"),
		"--enable-debug-command", "yes",
	}, s.args...)
	s.cmd = exec.Command("redis-server", args...)
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return err
	}
	err := errors.New("no answer")
	for range 1000 {
		if err = s.ping(); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.kill()
	log, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
	return fmt.Errorf("%w\n%s", err, log)
}

// ping speaks to the socket itself, so that a server which demands a password or
// is still loading also counts as up, and another program on the port does not.
func (s *Server) ping() error {
	if err := s.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	reply := make([]byte, 64)
	n, err := conn.Read(reply)
	if err != nil {
		return err
	}
	if reply[0] != '+' && reply[0] != '-' {
		return fmt.Errorf("unexpected answer %q", reply[:n])
	}
	return nil
}

// kill is called with mu held.
func (s *Server) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // also ends a stopped process
	_ = s.cmd.Wait()
	s.cmd = nil
	if s.admin != nil {
		s.admin.Close()
		s.admin = nil
	}
}

func (s *Server) shutdown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}
