// Package examples_test runs the example programs as a reader would, and checks
// that they tell what they should: in order, in time, and with exit code 0.
package examples_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// bound is how long an example may take. They aim at five seconds.
const bound = 15 * time.Second

// The lines that each example prints, in this order, among others.
var programs = []struct {
	name  string
	lines []string
}{
	{"quickstart", []string{
		"1. Two workers",
		"ada      has the lock, count 1",
		"ada      has it once more, count 2",
		"grace    gives up after 300ms, and reads who has it: ada, true",
		"grace    waits in line",
		"ada      unlocks twice",
		"grace    has the lock, count 1",
		"2. A lease of 1.5s, and work of 3s",
		"ada      is done and still has the lock: true",
		"redis    would keep it for another 1", // 1s to 1.5s: renewed at a third of the lease
		"3. A lock is lost",
		"operator deletes the key",
		"ada      stops, her ctx ended: holdfast: lock lost",
		"ada      gets ErrLost from lock.Do",
		"OnLost   hears of quickstart:order:42",
		"4. The runtime closes",
		"ada      is told: holdfast: runtime closed",
		"grace    is told: holdfast: runtime closed",
		"redis    has 0 keys left",
	}},
	{"async", []string{
		"1000 futures on 96 locks",
		" 950 granted, first come first served on each lock: true",
		"  10 cancelled",
		"  40 gave up after 400ms",
		"   0 locks still held",
	}},
}

func TestExamplesEmbedded(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			out := run(t, build(t, "./"+p.name))
			inOrder(t, out, append([]string{"on embedded miniredis"}, p.lines...))
		})
	}
}

func TestExamplesOnServer(t *testing.T) {
	server := redistest.Start(t)
	t.Run("all", func(t *testing.T) {
		for _, p := range programs {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				out := run(t, build(t, "./"+p.name), "-redis", server.Addr())
				inOrder(t, out, append([]string{"on redis-server"}, p.lines...))
			})
		}
	})
}

// TestHelloOnServer runs the README's program, with our server's address in the
// place of the usual one.
func TestHelloOnServer(t *testing.T) {
	const usual = "127.0.0.1:6379"
	server := redistest.Start(t)
	source, err := os.ReadFile("hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(source, []byte(usual)); n != 1 {
		t.Fatalf("hello/main.go names %s %d times, want once", usual, n)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, bytes.Replace(source, []byte(usual), []byte(server.Addr()), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	inOrder(t, run(t, build(t, file)), []string{"nobody else has order:42", "done: <nil>"})
}

// build compiles a program; that takes as long as it takes.
func build(t *testing.T, target string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "example")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, target).CombinedOutput()
	if err != nil {
		t.Fatalf("go build %s: %v\n%s", target, err, out)
	}
	return binary
}

// run returns what a program prints, and fails the test if it takes too long or
// ends with another exit code than 0.
func run(t *testing.T, binary string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("still running after %v, having printed:\n%s", bound, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// inOrder checks that out has a line for each of want, in that order.
func inOrder(t *testing.T, out string, want []string) {
	t.Helper()
	rest := strings.Split(out, "\n")
	for _, w := range want {
		found := false
		for i, line := range rest {
			if strings.Contains(line, w) {
				rest, found = rest[i+1:], true
				break
			}
		}
		if !found {
			t.Fatalf("no line with %q after the ones before it, in:\n%s", w, out)
		}
	}
}
