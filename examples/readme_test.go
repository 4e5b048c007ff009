package examples_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages are what a reader meets first; they must not promise what is not there.
var pages = []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"}

// TestReadmeProgram: the first Go block of the README is examples/hello, which is
// compiled and run.
func TestReadmeProgram(t *testing.T) {
	_, rest, ok := strings.Cut(read(t, "README.md"), "```go\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatal("README.md has no Go block")
	}
	if want := read(t, "examples/hello/main.go"); block != want {
		t.Errorf("README.md's program is not examples/hello/main.go:\n%s\nwant\n%s", block, want)
	}
}

// TestPagesLinkToWhatExists follows relative links.
func TestPagesLinkToWhatExists(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages {
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestPagesNameTestsThatExist: a promise is as good as the test that it names.
func TestPagesNameTestsThatExist(t *testing.T) {
	name := regexp.MustCompile(`\bTest[A-Z]\w+`)
	source := testSource(t)
	cited := 0
	for _, page := range pages {
		for _, n := range name.FindAllString(read(t, page), -1) {
			cited++
			if !bytes.Contains(source, []byte("func "+n+"(")) {
				t.Errorf("%s cites %s, which does not exist", page, n)
			}
		}
	}
	if cited == 0 {
		t.Error("no page cites a test")
	}
}

// TestEveryExampleHasItsLine: each example is on the page that lists them.
func TestEveryExampleHasItsLine(t *testing.T) {
	mains, err := filepath.Glob("*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("no examples found: %v", err)
	}
	page := read(t, "examples/README.md")
	for _, m := range mains {
		if dir := filepath.Dir(m); !strings.Contains(page, "| ["+dir+"]("+dir+") |") {
			t.Errorf("examples/README.md has no line for %s", dir)
		}
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// testSource is the text of every test file of the repository.
func testSource(t *testing.T) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "target") {
			return fs.SkipDir
		}
		if strings.HasSuffix(p, "_test.go") {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all = append(all, data...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
