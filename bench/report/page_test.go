package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/bench/wire"
)

func TestUpdatePage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "README.md")
	r := made()
	if err := r.UpdatePage(name); err != nil {
		t.Fatalf("a page that is not there: %v", err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# Bench\n")
	if err := r.UpdatePage(name); err == nil {
		t.Error("a page without the marks was taken")
	}
	write("before\n" + pageBegin + "\nstale\n" + pageEnd + "\nafter\n")
	for range 2 { // the second time it finds its own work
		if err := r.UpdatePage(name); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	if !strings.HasPrefix(page, "before\n"+pageBegin) || !strings.HasSuffix(page, pageEnd+"\nafter\n") {
		t.Errorf("the page around it has changed:\n%s", page)
	}
	if strings.Contains(page, "stale") || strings.Count(page, "### W1") != 1 {
		t.Errorf("the old results are still there:\n%s", page)
	}
}

func TestMarkdown(t *testing.T) {
	r := made()
	r.Rows[0].Targets = []Target{
		{Text: "pairs/s over the floor", Limit: 1.2, Value: 1.71, Known: true, Ok: true},
		{Text: "client CPU", Limit: 0.35, AtMost: true, Value: 0.5, Known: true},
		{Text: "Redisson", Limit: 2},
	}
	text := r.Markdown()
	for _, w := range []string{
		"| " + wire.Rueidislock + " | 64010 |", // ops/s is the first column
		"redisson failed: no Java here.",
		"| pairs/s over the floor | ≥ 1.20 | 1.71 | ok |",
		"| client CPU | ≤ 0.35 | 0.5 | MISS |",
		"| Redisson | ≥ 2 | - | not measured |",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}
