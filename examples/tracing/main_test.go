package main

import (
	"os"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// want is the tree, but for the attributes that depend on timing.
const want = `worker ada
   acquire tracing:order:{id}  outcome=acquired  contended=false
   hold tracing:order:{id}  lease.mode=watchdog  hold.count=1  release.reason=unlock
      ship order
worker grace
   acquire tracing:order:{id}  outcome=acquired  contended=true  queue.position=1  blocker.origin=local
      └─> blocked by: worker ada / hold tracing:order:{id}
   hold tracing:order:{id}  lease.mode=watchdog  hold.count=1  release.reason=unlock
`

func TestTreeEmbedded(t *testing.T) { testTree(t, "") }

func TestTreeOnServer(t *testing.T) { testTree(t, redistest.Start(t).Addr()) }

func testTree(t *testing.T, addr string) {
	t.Helper()
	spans, err := run(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(tree(spans), "  wakeup.reason=message", "")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The README shows the tree.
func TestTreeInReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), want) {
		t.Error("README.md does not show the tree that this example prints")
	}
}

// A link may lead to a span that another process has, or that nobody sampled.
func TestLinkToUnknownSpan(t *testing.T) {
	if got := (spans{}).describe(trace.SpanID{1}); got != "a span that was not kept" {
		t.Errorf("got %q", got)
	}
}
