package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
)

// request is one line to a peer; times are in milliseconds.
type request struct {
	ID      int    `json:"id"`
	Thread  string `json:"thread"`
	Cmd     string `json:"cmd"`
	Name    string `json:"name,omitempty"`
	Wait    int64  `json:"wait,omitempty"`
	Lease   int64  `json:"lease,omitempty"`
	N       int64  `json:"n,omitempty"`
	Workers int    `json:"workers,omitempty"`
	Counter string `json:"counter,omitempty"`
	Owner   string `json:"owner,omitempty"`
}

// reply is one line of a peer.
type reply struct {
	ID      int    `json:"id"`
	Ready   bool   `json:"ready,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	Jar     string `json:"jar,omitempty"`
	OK      bool   `json:"ok"`
	Value   any    `json:"value"`
	Error   string `json:"error,omitempty"`
	Message string `json:"message,omitempty"`
}

// peer is another process that holds and waits for locks: Java, or Go.
type peer struct {
	tb    testing.TB
	what  string
	uuid  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	errs  bytes.Buffer
	ended chan struct{} // the process is gone, and so are its open requests

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
}

// javaFlags keep six JVMs small enough for two cores.
var javaFlags = []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// startJava starts the Java program against a version, with that
// lockWatchdogTimeout.
func startJava(tb testing.TB, version, addr string, watchdog time.Duration) *peer {
	tb.Helper()
	args := append([]string{}, javaFlags...)
	args = append(args, "-cp", javaClasspath(tb, version), "interop.Main", "redis://"+addr, strconv.FormatInt(watchdog.Milliseconds(), 10))
	p, ready := startPeer(tb, "Redisson "+version, exec.Command("java", args...))
	if want := "redisson-" + version + ".jar"; ready.Jar != want {
		tb.Fatalf("the Java process runs %s, not %s", ready.Jar, want)
	}
	return p
}

// startGo starts the test binary again as a process of its own.
func startGo(tb testing.TB, addr string, watchdog time.Duration) *peer {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), goPeerEnv+"=redis://"+addr, goWatchdogEnv+"="+watchdog.String())
	p, _ := startPeer(tb, "holdfast", cmd)
	return p
}

func startPeer(tb testing.TB, what string, cmd *exec.Cmd) (*peer, reply) {
	tb.Helper()
	p := &peer{tb: tb, what: what, cmd: cmd, ended: make(chan struct{}), waiting: map[int]chan reply{}}
	cmd.Stderr = &p.errs
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.in = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	hello := make(chan reply, 1)
	p.waiting[0] = hello
	if err := cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", what, err)
	}
	go p.read(out)
	tb.Cleanup(p.kill)
	select {
	case r := <-hello:
		if !r.Ready {
			p.kill()
			tb.Fatalf("%s did not start: %s\n%s", what, r.Error, p.errs.String())
		}
		p.uuid = r.UUID
		return p, r
	case <-time.After(60 * time.Second):
		p.kill()
		tb.Fatalf("%s did not start within a minute\n%s", what, p.errs.String())
		return nil, reply{}
	}
}

// read hands out the replies, and fails what is open when the process ends.
func (p *peer) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r reply
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			r = reply{Error: "not a reply: " + lines.Text()}
		}
		p.mu.Lock()
		c := p.waiting[r.ID]
		delete(p.waiting, r.ID)
		p.mu.Unlock()
		if c != nil {
			c <- r
		}
	}
	_ = p.cmd.Wait() // a killed process is an error here, and that is all right
	p.mu.Lock()
	open := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	for id, c := range open {
		c <- reply{ID: id, Error: "ended", Message: p.what + " has ended"}
	}
	close(p.ended)
}

// kill is kill -9, and returns when the process is gone.
func (p *peer) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.in.Close()
	<-p.ended
}

// send posts a request; its reply comes on the channel.
func (p *peer) send(r request) <-chan reply {
	c := make(chan reply, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		c <- reply{Error: "ended", Message: p.what + " has ended"}
		return c
	}
	p.next++
	r.ID = p.next
	p.waiting[r.ID] = c
	line, _ := json.Marshal(r) // a struct of strings and numbers
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		delete(p.waiting, r.ID)
		c <- reply{Error: "ended", Message: err.Error()}
	}
	return c
}

// thread is one owner of the peer: a Java thread, or a Go owner.
type thread struct {
	p    *peer
	name string
}

func (p *peer) thread(name string) thread { return thread{p, name} }

// send posts a command of this thread.
func (th thread) send(cmd, name string, r request) <-chan reply {
	r.Thread, r.Cmd, r.Name = th.name, cmd, name
	return th.p.send(r)
}

// ask sends and waits for the reply, whatever it is.
func (th thread) ask(t testing.TB, cmd, name string, r request) reply {
	t.Helper()
	return await(t, th.p.what+" "+cmd, th.send(cmd, name, r))
}

// must is ask for a command that has to succeed.
func (th thread) must(t testing.TB, cmd, name string, r request) reply {
	t.Helper()
	a := th.ask(t, cmd, name, r)
	if !a.OK {
		t.Fatalf("%s: %s %s: %s: %s", th.p.what, cmd, name, a.Error, a.Message)
	}
	return a
}

// owner is the thread's wire form.
func (th thread) owner(t testing.TB) holdfast.Owner {
	t.Helper()
	o, err := holdfast.ParseOwner(fmt.Sprint(th.must(t, "id", "", request{}).Value))
	if err != nil {
		t.Fatal(err)
	}
	if o.Runtime() != th.p.uuid {
		t.Fatalf("%s is not of %s", o, th.p.uuid)
	}
	return o
}

// is reports a boolean answer.
func (th thread) is(t testing.TB, cmd, name string, r request) bool {
	t.Helper()
	return th.must(t, cmd, name, r).Value == true
}

// number reports a whole-number answer.
func (th thread) number(t testing.TB, cmd, name string, r request) int64 {
	t.Helper()
	v := th.must(t, cmd, name, r).Value
	n, ok := v.(float64)
	if !ok {
		t.Fatalf("%s: %s %s: %v is not a number", th.p.what, cmd, name, v)
	}
	return int64(n)
}

// refused checks that unlocking is not this thread's to do.
func (th thread) refused(t testing.TB, name string) {
	t.Helper()
	a := th.ask(t, "unlock", name, request{})
	if a.OK || a.Error != "IllegalMonitorStateException" || !strings.Contains(a.Message, "not locked by current thread") {
		t.Fatalf("%s: unlock %s of what it does not hold: %+v", th.p.what, name, a)
	}
}

// await waits for a reply that has to come.
func await(t testing.TB, what string, c <-chan reply) reply {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(patience):
		t.Fatalf("%s: no answer after %v", what, patience)
		return reply{}
	}
}
