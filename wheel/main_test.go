package wheel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// firing is one entry handed to Handler.
type firing struct {
	id    int
	at    time.Duration
	batch int
}

// recorder is a Handler that writes down what it gets.
type recorder struct {
	wheel *Wheel[int]
	then  func(e *Entry[int]) // runs inside Handler, for each entry

	inside atomic.Int32
	mu     sync.Mutex
	fired  []firing
	sizes  []int
	broken []string
}

func (r *recorder) handle(due []*Entry[int]) {
	if r.inside.Add(1) != 1 {
		r.complain("two calls of Handler overlap")
	}
	defer r.inside.Add(-1)
	now := r.wheel.Now()
	r.mu.Lock()
	r.sizes = append(r.sizes, len(due))
	for _, e := range due {
		r.fired = append(r.fired, firing{e.Value, now, len(r.sizes)})
	}
	r.mu.Unlock()
	if len(due) == 0 || len(due) > batchSize {
		r.complain("a batch is empty or too long")
	}
	if r.then != nil {
		for _, e := range due {
			r.then(e)
		}
	}
}

func (r *recorder) complain(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = append(r.broken, what)
}

// all is what was fired so far, in order.
func (r *recorder) all() []firing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.fired)
}

// nap moves the bubble's clock and lets everything due by then happen; unlike Sleep alone it orders memory.
func nap(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// settle lets everything that is due now happen: a runtime timer set to "now" needs the bubble's clock to move.
func settle() { nap(1) }

// inBubble runs f in a bubble, with a wheel that is stopped afterwards and must have kept the rules of Handler.
func inBubble(t *testing.T, cfg Config[int], driver func(geometry) driver, f func(*testing.T, *Wheel[int], *recorder)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		if cfg.Handler == nil {
			cfg.Handler = r.handle
		}
		w, err := newWheel(cfg, driver)
		if err != nil {
			t.Fatal(err)
		}
		r.wheel = w
		defer func() {
			w.Stop(context.Background())
			if w.Len() != 0 {
				t.Errorf("Len = %d after Stop", w.Len())
			}
			for _, what := range r.broken {
				t.Error(what)
			}
		}()
		f(t, w, r)
	})
}

// must is for calls that cannot fail before Stop.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
