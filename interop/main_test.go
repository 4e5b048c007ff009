package interop

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"go.uber.org/goleak"
)

var (
	stormFor = flag.Duration("storm", 5*time.Second, "how long each version's storm lasts")
	versions = flag.String("versions", "3.14.1,3.27.2,4.7.0", "Redisson versions, oldest first")
)

// TestMain is also the entry of the Go processes that the tests start.
func TestMain(m *testing.M) {
	if url := os.Getenv(goPeerEnv); url != "" {
		os.Exit(goPeer(url))
	}
	flag.Parse()
	// The parallel cases wait for leases, whatever the number of cores; and the
	// more of them wait together, the sooner the suite ends.
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(printing{m})
}

// printing prints the table of results after the tests.
type printing struct{ m *testing.M }

func (p printing) Run() int {
	code := p.m.Run()
	results.print()
	return code
}

// results collects one row per case, version and direction.
var results table

type table struct {
	mu   sync.Mutex
	rows [][]string
}

func (r *table) add(cols ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, cols)
}

func (r *table) print() {
	if len(r.rows) == 0 {
		return
	}
	slices.SortStableFunc(r.rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CASE\tREDISSON\tDIRECTION\tRESULT\tNOTE")
	for _, row := range r.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
}

// wanted returns the versions to test.
func wanted() []string {
	all := strings.Split(*versions, ",")
	if testing.Short() {
		return all[len(all)-1:]
	}
	return all
}

// missing skips the test with a banner, because go test swallows the reason of a
// skip; in CI it fails.
func missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatalf("interop: CI needs %s (scripts/install-java.sh)", what)
	}
	fmt.Fprintf(os.Stderr, "\n*** interop SKIPPED: %s. Nothing was proved against Redisson.\n*** scripts/install-java.sh installs what is missing.\n\n", what)
	tb.Skipf("interop: SKIPPED: %s", what)
}
