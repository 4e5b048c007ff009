package holdfast_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file holds the house's arrows (docs/DESIGN.md): who may import what, who may
// start a goroutine, and why. It looks at files that are not tests, in this module.
// A permission that nobody uses, or a rule about what no longer exists, fails too:
// the tables say what is, not what once was.

const archModule = "github.com/holdfast-go/holdfast"

// archRules: what is imported, by which folders at most ("." is the root, and
// "x/..." is x with everything below), and the reason: the rooms' own packages,
// and what comes from outside. Where two rules fit an import, the narrower one
// decides.
var archRules = []struct {
	imports string
	from    []string
	reason  string
}{
	{archModule, []string{"examples/...", "interop/..."},
		"the facade is what a user types; a room that imports it would be above itself"},
	{archModule + "/actors", []string{"."},
		"behaviour is reached through the facade; a leaf that knew it could not be used or tested alone"},
	{archModule + "/future", []string{".", "actors", "examples/..."},
		"a leaf: leaves do not import each other, so that each can be read and tested alone"},
	{archModule + "/wheel", []string{"actors"},
		"a leaf, and only leases have due times"},
	{archModule + "/rediscmd", []string{".", "actors"},
		"a leaf; the root wires it and checks names, actors give it commands"},
	{archModule + "/telemetry", []string{".", "actors"},
		"a leaf; leaves return facts, actors tell them to telemetry"},
	{archModule + "/rediscmd/redistest", nil,
		"test support: it imports testing"},
	{archModule + "/examples/internal/demo", []string{"examples/..."},
		"an embedded server is for shows"},

	{"github.com/redis/rueidis/...", []string{"rediscmd/...", ".", "examples/...", "interop/..."},
		"one room speaks to Redis; the root names ClientOption and Client in New and WithClient, and nothing more"},
	{"github.com/RussellLuo/timingwheel", []string{"wheel"},
		"it fires early under load and costs a goroutine per timer: one room knows how to live with that"},
	{"github.com/asynkron/protoactor-go/actor", []string{"actors"},
		"only a part of it is safe here; that part is in one room"},
	{"github.com/asynkron/protoactor-go/...", nil,
		"remoting, clustering and persistence are not what a lock needs"},
	{"github.com/google/uuid", []string{".", "actors"},
		"a runtime makes its id, an owner is read from one"},
	{"go.opentelemetry.io/otel/...", []string{"telemetry"},
		"one room knows OpenTelemetry; the others call its recorder, which may be nil"},
	{"go.opentelemetry.io/otel/trace", []string{".", "telemetry"},
		"the root names TracerProvider in an option"},
	{"go.opentelemetry.io/otel/metric", []string{".", "telemetry"},
		"the root names MeterProvider in an option"},
	{"go.opentelemetry.io/otel/sdk/...", nil,
		"which SDK there is, is the program's choice"},
	{"github.com/alicebob/miniredis/v2/...", []string{"rediscmd/redistest", "examples/internal/demo"},
		"a server for tests and shows"},
	{"testing/...", []string{"rediscmd/redistest"},
		"nothing that users link may import testing: it registers flags"},
	{"embed", []string{"rediscmd"},
		"scripts are the only embedded files, and they are one room's"},
	{"net/http/...", nil,
		"the library serves nothing"},
	{"unsafe", nil,
		"nothing here needs it"},
}

// archBirths are the files that may start goroutines, by go, a Go method or an
// AfterFunc. A held lock and a waiting call cost none: whoever adds a line
// explains here how many there can be, and what ends them.
var archBirths = map[string]string{
	"do.go":                  "one per Do whose hold ends before its function: AfterFunc passes the cancellation on",
	"actors/request.go":      "one per request whose own ctx ends: AfterFunc tells the actor, then ends",
	"actors/notify.go":       "one at most, while a loss is being told to user code",
	"future/future.go":       "one per completion that has callbacks, which are user code",
	"future/callback.go":     "the same, for a callback that comes after the completion",
	"future/derive.go":       "one per future.Go, which is what it says",
	"wheel/wheel.go":         "two timers per wheel, stopped by Close; no goroutine while they wait",
	"wheel/driver.go":        "the library's wheel, ended by Close",
	"rediscmd/client.go":     "one per node while scripts are loaded at the start, and one for Close",
	"rediscmd/deadline.go":   "one timer per worker, which cancels a batch that takes too long",
	"rediscmd/lane.go":       "a bounded number of workers per lane, ended by Close",
	"rediscmd/subscriber.go": "one per node with subscriptions, ended by Close",
	"rediscmd/subnode.go":    "one while a dead connection is closed",
	"rediscmd/topology.go":   "one per cluster client, ended by Close",
}

// archPure is the transition function: time comes in on the event, so the same
// code runs in production, under rapid and in a simulation.
var (
	archPure      = []string{"actors/state.go", "actors/step*.go"}
	archPureTaboo = []string{"context", "sync", "sync/atomic", "os", "net", "math/rand/v2", "log/slog",
		archModule + "/wheel", archModule + "/future", "github.com/asynkron/protoactor-go/actor"}
	archPureCalls = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer"}
)

type archFile struct {
	name    string // from the root, with slashes
	imports []string
	births  []string // what starts a goroutine, with its position
	calls   []string // of functions of package time
}

func (f *archFile) dir() string { return path.Dir(f.name) }

func TestImportsFollowTheArrows(t *testing.T) {
	files := archFiles(t)
	used := map[string]map[string]bool{} // rule -> permission -> used
	for _, f := range files {
		for _, imported := range f.imports {
			rule := archRuleFor(imported)
			if rule < 0 {
				if strings.Contains(imported, ".") {
					t.Errorf("%s imports %s, which no rule in arch_test.go knows: a new dependency needs a reason", f.name, imported)
				}
				continue
			}
			r := archRules[rule]
			i := slices.IndexFunc(r.from, func(from string) bool { return archWithin(f.dir(), from) })
			if i < 0 {
				t.Errorf("%s must not import %s: %s (allowed from %q)", f.name, imported, r.reason, r.from)
				continue
			}
			if used[r.imports] == nil {
				used[r.imports] = map[string]bool{}
			}
			used[r.imports][r.from[i]] = true
		}
	}
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range archRules {
		for _, from := range r.from {
			if !used[r.imports][from] {
				t.Errorf("the rule for %s allows it from %q, where nothing imports it (any more): remove that", r.imports, from)
			}
		}
		if !archExists(files, string(goMod), strings.TrimSuffix(r.imports, "/...")) {
			t.Errorf("the rule for %s is about a package that no longer exists", r.imports)
		}
	}
}

// TestLibraryLinksNoTestSupport looks at what a user's binary gets, through every
// dependency. (OpenTelemetry's metric SDK is among it: protoactor's actor package
// brings it, unused.)
func TestLibraryLinksNoTestSupport(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-buildvcs=false", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, archModule+"/actors") {
		t.Fatal("go list -deps did not list this library")
	}
	for _, dep := range deps {
		for _, taboo := range []string{"testing", "github.com/alicebob/miniredis", "go.opentelemetry.io/otel/sdk/trace", "go.uber.org/goleak", "pgregory.net/rapid"} {
			if archWithin(dep, taboo+"/...") {
				t.Errorf("a program that imports holdfast links %s", dep)
			}
		}
	}
}

func TestGoroutinesAreBornWhereListed(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range archFiles(t) {
		if top, _, _ := strings.Cut(f.name, "/"); slices.Contains([]string{"examples", "interop"}, top) || archWithin(f.dir(), "rediscmd/redistest") {
			continue // programs and test support are not the library
		}
		seen[f.name] = len(f.births) > 0
		if _, listed := archBirths[f.name]; !listed {
			for _, at := range f.births {
				t.Errorf("%s starts a goroutine in a file that archBirths does not list", at)
			}
		}
	}
	for name := range archBirths {
		if !seen[name] {
			t.Errorf("archBirths lists %s, which starts no goroutine (any more)", name)
		}
	}
}

func TestTransitionFunctionIsPure(t *testing.T) {
	for _, pattern := range archPure {
		found := false
		for _, f := range archFiles(t) {
			if ok, _ := path.Match(pattern, f.name); !ok {
				continue
			}
			found = true
			for _, taboo := range archPureTaboo {
				if slices.Contains(f.imports, taboo) {
					t.Errorf("%s imports %s, but decisions are made of (state, event) alone", f.name, taboo)
				}
			}
			for _, call := range f.calls {
				if slices.Contains(archPureCalls, call) {
					t.Errorf("%s uses %s, but time comes in on the event", f.name, call)
				}
			}
			for _, at := range f.births {
				t.Errorf("%s starts a goroutine in the transition function", at)
			}
		}
		if !found {
			t.Errorf("no file matches %s (any more)", pattern)
		}
	}
}

// archFiles parses this module's Go files that are not tests.
func archFiles(t *testing.T) []*archFile {
	t.Helper()
	var files []*archFile
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." {
			_, nested := os.Stat(filepath.Join(p, "go.mod"))
			if nested == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(set, p, nil, parser.SkipObjectResolution)
		if err == nil {
			files = append(files, archRead(set, filepath.ToSlash(p), parsed))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func archRead(set *token.FileSet, name string, parsed *ast.File) *archFile {
	f := &archFile{name: name}
	for _, spec := range parsed.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		f.imports = append(f.imports, imported)
	}
	born := func(n ast.Node) { f.births = append(f.births, set.Position(n.Pos()).String()) }
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			born(n)
		case *ast.SelectorExpr:
			if n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc" {
				born(n)
			}
			if x, ok := n.X.(*ast.Ident); ok {
				f.calls = append(f.calls, x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return f
}

// archRuleFor returns the index of the narrowest rule that fits an import, or -1.
func archRuleFor(imported string) int {
	best := -1
	for i, r := range archRules {
		if archWithin(imported, r.imports) && (best < 0 || archWithin(r.imports, archRules[best].imports)) {
			best = i
		}
	}
	return best
}

// archWithin reports whether p is pattern, or below it if that ends in "/...".
func archWithin(p, pattern string) bool {
	tree, below := strings.CutSuffix(pattern, "/...")
	return p == tree || below && strings.HasPrefix(p, tree+"/")
}

// archExists reports whether there is such a package: a folder of this module, a
// part of a required module, or one of the standard library's.
func archExists(files []*archFile, goMod, imported string) bool {
	if dir, ours := strings.CutPrefix(imported, archModule); ours {
		dir = path.Join(".", dir)
		return slices.ContainsFunc(files, func(f *archFile) bool { return f.dir() == dir })
	}
	if !strings.Contains(imported, ".") {
		return true
	}
	for line := range strings.Lines(goMod) {
		required, _, ok := strings.Cut(strings.TrimSpace(line), " v")
		if ok && (required == imported || strings.HasPrefix(imported, required+"/")) {
			return true
		}
	}
	return false
}
