package wire

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestBuckets looks at every power of two and its neighbours: indices rise without
// a gap, and the middle of a bucket is in it, within 1 % of all its values.
func TestBuckets(t *testing.T) {
	last := -1
	for v := int64(0); v < 1<<16; v++ {
		i := index(v)
		if i != last && i != last+1 {
			t.Fatalf("index(%d) = %d after %d", v, i, last)
		}
		last = i
	}
	for e := range 63 {
		for _, v := range []int64{1<<e - 1, 1 << e, 1<<e + 1, 1<<e + 1<<e/3, math.MaxInt64} {
			i := index(v)
			if i < 0 || i >= buckets {
				t.Fatalf("index(%d) = %d of %d", v, i, buckets)
			}
			m := middle(i)
			if index(m) != i {
				t.Errorf("the middle %d of bucket %d is in bucket %d", m, i, index(m))
			}
			if off := math.Abs(float64(m-v)) / math.Max(float64(v), 1); off > 0.01 {
				t.Errorf("%d is taken for %d, %.2g off", v, m, off)
			}
		}
	}
}

func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	var all []float64
	for range 20_000 {
		v := math.Exp(r.Float64() * 20)
		all = append(all, math.Trunc(v))
		h.Add(time.Duration(v))
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.001, 0.5, 0.99, 0.999, 1} {
		want := all[max(int(math.Ceil(q*float64(len(all))))-1, 0)]
		if got := h.Quantile(q); math.Abs(got-want) > 0.01*want+1 {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	if want := sum / float64(len(all)); math.Abs(h.Mean()-want) > 1e-6*want {
		t.Errorf("Mean() = %v, want %v", h.Mean(), want)
	}
	if got := float64(h.Max()); got != all[len(all)-1] {
		t.Errorf("Max() = %v, want %v", got, all[len(all)-1])
	}
}

func TestQuantileOfNothing(t *testing.T) {
	var h Histogram
	if !math.IsNaN(h.Quantile(0.5)) || !math.IsNaN(h.Mean()) {
		t.Errorf("an empty histogram has the median %v and the mean %v", h.Quantile(0.5), h.Mean())
	}
}

// TestMergeAndJSON: two halves, one of them sent over the wire, are the whole.
func TestMergeAndJSON(t *testing.T) {
	var whole, a, b, both, empty Histogram
	for i := range int64(10_000) {
		d := time.Duration(i * i * 37)
		whole.Add(d)
		if i%2 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	text, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	var sent Histogram
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	for _, part := range []*Histogram{&a, nil, &empty, &sent} {
		both.Merge(part)
	}
	want, _ := json.Marshal(&whole)
	got, _ := json.Marshal(&both)
	if string(got) != string(want) {
		t.Errorf("two halves are\n%.300s\nthe whole is\n%.300s", got, want)
	}
}

func TestJSONThatLies(t *testing.T) {
	for _, text := range []string{
		`{"count":2,"sum":1,"buckets":[[0,1]]}`,
		`{"count":1,"sum":1,"buckets":[[-1,1]]}`,
		`{"count":1,"sum":1,"buckets":[[99999,1]]}`,
		`{"count":-1,"sum":1,"buckets":[[0,-1]]}`,
		`[]`,
	} {
		if err := json.Unmarshal([]byte(text), new(Histogram)); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestAddFromMany(t *testing.T) {
	var h Histogram
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 1000 {
				h.Add(time.Duration(i*1000 + j))
			}
		})
	}
	group.Wait()
	if h.Count() != 8000 || h.Max() != 7999 || h.Quantile(0) != 0 {
		t.Errorf("%d values up to %d, from %v", h.Count(), h.Max(), h.Quantile(0))
	}
}
