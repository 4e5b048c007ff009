package telemetry

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

var update = flag.Bool("update", false, "write testdata/catalogue.golden from what is emitted")

const goldenPath = "testdata/catalogue.golden"

// everything makes each span and each metric, with each attribute, at least once.
func everything(g *rig) {
	r := g.rec
	ctx, _ := g.parent()
	failure := classified("x")
	var a AcquireSpan
	r.StartAcquire(ctx, &a, AcquireInfo{Name: "n:1", Kind: KindMutex, Mode: ModeLock, Owner: "u:1"})
	a.Blocked(Blocker{Span: sampledContext(1), Owner: "u:2", Origin: OriginRemote})
	r.EndAcquire(&a, AcquireEnd{
		Kind: KindMutex, Outcome: OutcomeTimeout, Contended: true, Took: 1, Waited: 1, Attempts: 2,
		Wakeup: WakeupTTL, Position: 1, At: grant, Err: failure,
	})
	var h HoldSpan
	r.StartHold(ctx, &h, HoldInfo{Name: "n:1", Kind: KindMutex, Owner: "u:1", LeaseMode: LeaseFixed, Count: 1, At: grant})
	r.EndHold(&h, HoldEnd{Kind: KindMutex, Reason: ReleaseLost, Held: 1, Renewals: 1, MinMargin: 1, At: grant, Err: failure})
	r.Lost(Loss{Kind: KindMutex, Reason: LossExpired})
	r.Released(KindMutex, 1, failure)
	r.RenewedBatch(RenewBatch{Took: 1, Renewed: 1, Lost: 1, Failed: 1, Err: failure})
	r.RenewMargin(time.Second)
	r.Wakeup(WakeupPoll, true)
	r.HandedOff(ScopeLocal, 1)
	r.CleanedUp(CleanupUnclaimed)
	r.Batch(3)
	r.TimerLag(1)
}

// emitted describes what everything made, one line for each span, link, metric and
// attribute.
func emitted(t *testing.T) []string {
	g := newRig(t, func() Counts { return Counts{1, 1, 1, 1, 1, 1} })
	everything(g)
	var lines []string
	for _, s := range g.ended() {
		what, _, _ := strings.Cut(s.Name(), " ")
		lines = append(lines, fmt.Sprintf("span %s {template} %s", what, strings.ToUpper(s.SpanKind().String())))
		for _, kv := range s.Attributes() {
			lines = append(lines, fmt.Sprintf("span %s: %s %s", what, kv.Key, typeOf(kv.Value)))
		}
		for _, l := range s.Links() {
			for _, kv := range l.Attributes {
				lines = append(lines, fmt.Sprintf("link %s: %s %s", what, kv.Key, typeOf(kv.Value)))
			}
		}
	}
	for name, m := range g.collect() {
		lines = append(lines, fmt.Sprintf("metric %s %s %s", name, instrumentOf(t, m), m.Unit))
		if m.Description == "" {
			t.Errorf("%s has no description", name)
		}
		keys := map[string]bool{}
		for _, p := range points(t, m) {
			for k := range p.attrs {
				keys[k] = true
			}
		}
		for k := range keys {
			lines = append(lines, fmt.Sprintf("metric %s: %s", name, k))
		}
	}
	slices.Sort(lines)
	return lines
}

func typeOf(v attribute.Value) string {
	switch v.Type() {
	case attribute.STRING:
		return "string"
	case attribute.BOOL:
		return "bool"
	case attribute.INT64:
		return "int"
	case attribute.FLOAT64:
		return "double"
	}
	return v.Type().String()
}

func instrumentOf(t *testing.T, m metricdata.Metrics) string {
	switch d := m.Data.(type) {
	case metricdata.Histogram[float64], metricdata.Histogram[int64]:
		return "Histogram"
	case metricdata.Sum[int64]:
		if d.IsMonotonic {
			return "Counter"
		}
		return "UpDownCounter"
	}
	t.Errorf("%s: unexpected %T", m.Name, m.Data)
	return "?"
}

// TestCatalogueIsWhatIsEmitted compares the golden list with reality. A dashboard
// is built on these names: changing one is a breaking change, and this test makes
// it a visible one.
func TestCatalogueIsWhatIsEmitted(t *testing.T) {
	got := emitted(t)
	if *update {
		if err := os.WriteFile(goldenPath, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	diff(t, "emitted", got, "golden", golden(t))
}

// TestCatalogueIsWhatIsDocumented parses the tables of doc.go into the same lines.
func TestCatalogueIsWhatIsDocumented(t *testing.T) {
	diff(t, "doc.go", documented(t), "golden", golden(t))
}

// TestEveryKeyIsEmitted finds an attribute key that was declared and forgotten.
func TestEveryKeyIsEmitted(t *testing.T) {
	src := read(t, "attributes.go")
	keys := regexp.MustCompile(`attribute\.Key\("([^"]+)"\)`).FindAllStringSubmatch(src, -1)
	if len(keys) < 20 {
		t.Fatalf("found %d keys in attributes.go", len(keys))
	}
	all := strings.Join(golden(t), "\n") + "\n"
	for _, k := range keys {
		if !regexp.MustCompile(`: ` + regexp.QuoteMeta(k[1]) + `[ \n]`).MatchString(all) {
			t.Errorf("%s is declared and never emitted", k[1])
		}
	}
}

func golden(t *testing.T) []string {
	t.Helper()
	return strings.Split(strings.TrimSpace(read(t, goldenPath)), "\n")
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	spanRow   = regexp.MustCompile(`^(\w+) (\{template\})\s+(CLIENT|INTERNAL)\b`)
	attrRow   = regexp.MustCompile(`^((?:holdfast|db|error)\.[a-z_.]+)\s+(string|bool|int|double)\b`)
	metricRow = regexp.MustCompile(`^(holdfast\.[a-z.]+)\s+(Histogram|Counter|UpDownCounter)\s+(\S+)`)
	key       = regexp.MustCompile(`(?:holdfast|error)\.[a-z.]+`)
)

// documented reads the tables of doc.go. The heading above a table says what its
// attributes belong to; the row of a metric says it for the line below.
func documented(t *testing.T) []string {
	t.Helper()
	var lines []string
	owner := ""
	for _, line := range strings.Split(read(t, "doc.go"), "\n") {
		text, isTable := strings.CutPrefix(line, "//\t")
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(line, "// Attributes of the acquire span"):
			owner = "span acquire"
		case strings.HasPrefix(line, "// Attributes of its links"):
			owner = "link acquire"
		case strings.HasPrefix(line, "// Attributes of the hold span"):
			owner = "span hold"
		case strings.HasPrefix(line, "// #"), strings.HasPrefix(line, "// Bucket"):
			owner = ""
		case !isTable:
		default:
			if m := spanRow.FindStringSubmatch(text); m != nil {
				lines = append(lines, fmt.Sprintf("span %s %s %s", m[1], m[2], m[3]))
			} else if m := attrRow.FindStringSubmatch(text); m != nil {
				lines = append(lines, fmt.Sprintf("%s: %s %s", owner, m[1], m[2]))
			} else if m := metricRow.FindStringSubmatch(text); m != nil {
				owner = "metric " + m[1]
				lines = append(lines, fmt.Sprintf("%s %s %s", owner, m[2], m[3]))
			} else if strings.HasPrefix(owner, "metric ") {
				for _, k := range key.FindAllString(text, -1) {
					lines = append(lines, owner+": "+k)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func diff(t *testing.T, a string, as []string, b string, bs []string) {
	t.Helper()
	in := func(ls []string) map[string]int {
		m := map[string]int{}
		for _, l := range ls {
			m[l]++
		}
		return m
	}
	am, bm := in(as), in(bs)
	for _, l := range slices.Sorted(maps.Keys(am)) {
		if am[l] > 1 {
			t.Errorf("%s has %d times: %s", a, am[l], l)
		}
		if bm[l] == 0 {
			t.Errorf("%s has, %s lacks: %s", a, b, l)
		}
	}
	for _, l := range slices.Sorted(maps.Keys(bm)) {
		if am[l] == 0 {
			t.Errorf("%s has, %s lacks: %s", b, a, l)
		}
	}
}
