package stress

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// The budget tests hold figures that do not depend on how fast a machine is:
// commands per hand-over, scripts per renewal, bytes per lock and per waiter,
// allocations per cycle. What costs time is measured elsewhere.

// calls is how often each command ran on a server, those inside scripts included.
type calls map[string]int64

func callsOn(tb testing.TB, s *redistest.Server) calls {
	tb.Helper()
	text, err := s.MustDo("INFO", "commandstats").ToString()
	if err != nil {
		tb.Fatal(err)
	}
	c := calls{}
	for line := range strings.Lines(text) {
		// cmdstat_pubsub|numsub:calls=3,usec=12,...
		name, rest, found := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !found {
			continue
		}
		count, _, _ := strings.Cut(rest, ",")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			tb.Fatalf("INFO commandstats: %q: %v", line, err)
		}
		c[name] = n
	}
	return c
}

// since returns what ran after before was taken.
func (c calls) since(before calls) calls {
	diff := calls{}
	for name, n := range c {
		if n -= before[name]; n != 0 {
			diff[name] = n
		}
	}
	return diff
}

// scripts counts the round trips: every one of them is a script.
func (c calls) scripts() int64 { return c["evalsha"] + c["eval"] }

// all counts every command but those that ask for the counts.
func (c calls) all() (n int64) {
	for name, times := range c {
		if name != "info" {
			n += times
		}
	}
	return n
}

// crowd is workers of several runtimes that all want one name.
type crowd struct {
	locks    []*holdfast.Lock // one of each runtime
	workers  int              // on each of them
	sections int              // critical sections of each worker
}

func (c crowd) handovers() int64 { return int64(len(c.locks) * c.workers * c.sections) }

// run lets all workers come before the first is served, counts what the server
// does until the last was served, and returns that.
func (c crowd) run(t *testing.T, s *redistest.Server) calls {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	first := lock(t, c.locks[0])
	var served sync.WaitGroup
	errs := make([]error, len(c.locks)*c.workers)
	for i := range errs {
		l := c.locks[i%len(c.locks)]
		served.Go(func() { errs[i] = c.work(ctx, l) })
	}
	for i, l := range c.locks {
		eventually(t, patience, fmt.Sprintf("the workers of runtime %d are seen to wait", i), func() bool {
			st, err := l.Inspect(ctx)
			return err == nil && st.LocalWaiters == c.workers
		})
	}
	before := callsOn(t, s)
	unlock(t, first)
	served.Wait()
	used := callsOn(t, s).since(before)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return used
}

func (c crowd) work(ctx context.Context, l *holdfast.Lock) error {
	for range c.sections {
		h, err := l.Lock(ctx)
		if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		if err := h.Unlock(ctx); err != nil {
			return fmt.Errorf("unlock: %w", err)
		}
	}
	return nil
}

// takeAll locks n names without the cost of as many at once in flight, and
// returns the holds; the names belong to them.
func takeAll(t *testing.T, rt *holdfast.Runtime, prefix string, n int) []*holdfast.Hold {
	t.Helper()
	const inFlight = 256
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	holds := make([]*holdfast.Hold, n)
	var takers sync.WaitGroup
	errs := make([]error, inFlight)
	for w := range inFlight {
		takers.Go(func() {
			for i := w; i < n && errs[w] == nil; i += inFlight {
				holds[i], errs[w] = rt.Lock(prefix + strconv.Itoa(i)).Lock(ctx)
			}
		})
	}
	takers.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return holds
}

// wantHeld checks that none of the holds has ended.
func wantHeld(t *testing.T, holds []*holdfast.Hold) {
	t.Helper()
	for _, h := range holds {
		if h.ValidFor() <= 0 {
			t.Fatalf("%s is not held any more: %v", h.Name(), context.Cause(h.Context()))
		}
	}
}

// settledHeap is what the heap holds once everything is gone that nobody needs any
// more: pools shrink by and by after a burst.
func settledHeap() int64 {
	const pause, enough, tries = 100 * time.Millisecond, 4, 50
	heap, still := heapNow(), 0
	for i := 0; i < tries && still < enough; i++ {
		time.Sleep(pause)
		before := heap
		still++
		if heap = heapNow(); before-heap > before/100 {
			still = 0
		}
	}
	return heap
}

// heapNow collects twice: the first collection only moves the contents of pools
// aside.
func heapNow() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
