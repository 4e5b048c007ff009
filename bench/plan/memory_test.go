package plan

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// A patrol sees the shortest TTL, the keys that are not there, and the scripts of
// others, and leaves its own commands out.
func TestPatrol(t *testing.T) {
	s := redistest.Start(t)
	for key, ttl := range map[string]string{"a": "60000", "b": "9000", "c": "90000"} {
		s.MustDo("SET", key, "1", "PX", ttl)
	}
	redis := s.Client(t)
	p := patrol{locks: 5, interval: 300 * time.Millisecond, periods: 2}
	f, err := p.walk(t.Context(), redis)
	if err != nil {
		t.Fatal(err)
	}
	if share := f[LeastTTL]; share > 10 || share < 8 {
		t.Errorf("least TTL %v of the lease, want a little under 10", share)
	}
	if n := f[KeysMissing]; n != 2 {
		t.Errorf("%v keys missing, want 2", n)
	}
	if f[CallsPerOp] != 0 || f[ScriptsPerOp] != 0 {
		t.Errorf("nobody else did anything, but %v", f)
	}

	other := make(chan error)
	go func() {
		time.Sleep(50 * time.Millisecond)
		other <- s.Do("EVAL", "return redis.call('pexpire', KEYS[1], 1000)", "1", "b").Error()
	}()
	f, err = p.walk(t.Context(), redis)
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	const due = 5 * 2 // locks by periods
	if n := f[Scripts]; n != 1 || f[ScriptsPerOp] > 1.0/due || f[CallsPerOp] < f[ScriptsPerOp] {
		t.Errorf("one script with a command in it: %v", f)
	}
}

// Each target of the rows about memory misses when its figure is bad.
func TestMemoryTargets(t *testing.T) {
	good := Round{
		Key{System: wire.Holdfast}: {
			wire.BytesEach: 500, Goroutines: 10, LeastTTL: 0.6, KeysMissing: 0, wire.Lost: 0, ClientCPU: 1,
			ScriptsPerOp: 0.01, wire.Subscriptions: 1, HeapBytes: 1e6, wire.StackBytes: 1e6,
			wire.RateOfTenth(1): 100, wire.RateOfTenth(10): 99,
		},
		Key{System: wire.Rueidislock}: {ClientCPU: 20},
	}
	bad := Round{
		Key{System: wire.Holdfast}: {
			wire.BytesEach: 5000, Goroutines: 1000, LeastTTL: 0.4, KeysMissing: 1, wire.Lost: 1, ClientCPU: 3,
			ScriptsPerOp: 0.1, wire.Subscriptions: 1.1, HeapBytes: 19e6, wire.StackBytes: 2e6,
			wire.RateOfTenth(1): 100, wire.RateOfTenth(10): 80,
		},
		Key{System: wire.Rueidislock}: {ClientCPU: 20},
	}
	for _, row := range []Row{held(), waiting(), churn()} {
		for _, target := range row.Targets {
			if v := target.Judge([]Round{good}); !v.Known || !v.Ok {
				t.Errorf("%s %s: %+v of a good round", row.ID, target.Text, v)
			}
			if v := target.Judge([]Round{bad}); !v.Known || v.Ok {
				t.Errorf("%s %s: %+v of a bad round", row.ID, target.Text, v)
			}
			if v := target.Judge([]Round{{}}); v.Known {
				t.Errorf("%s %s: known of an empty round", row.ID, target.Text)
			}
		}
	}
}
