package stress

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

const (
	stormName    = "storm"
	stormCounter = "storm-counter" // read and written back by every critical section
)

// squad is the workers of one runtime in a storm.
type squad struct {
	rt      *holdfast.Runtime
	redis   rueidis.Client // for the counter: a way of its own, past the library
	workers int
	inside  *atomic.Int32 // of the process

	served []int64 // critical sections of each worker
	errs   []error
	worst  []time.Duration // longest wait of each
}

// run storms until the time is up.
func (q *squad) run(lasts time.Duration) {
	q.served, q.errs, q.worst = make([]int64, q.workers), make([]error, q.workers), make([]time.Duration, q.workers)
	end := time.Now().Add(lasts)
	var wg sync.WaitGroup
	for w := range q.workers {
		wg.Go(func() {
			for q.errs[w] == nil && time.Now().Before(end) {
				q.errs[w] = q.section(w)
			}
		})
	}
	wg.Wait()
}

// section is one critical section.
func (q *squad) section(w int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	asked := time.Now()
	h, err := q.rt.Lock(stormName).Lock(ctx)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	q.worst[w] = max(q.worst[w], time.Since(asked))
	err = q.count(ctx)
	if err == nil {
		q.served[w]++
	}
	if unlockErr := h.Unlock(ctx); unlockErr != nil {
		err = errors.Join(err, fmt.Errorf("unlock: %w", unlockErr))
	}
	return err
}

// count is what must not be done by two at a time.
func (q *squad) count(ctx context.Context) error {
	n := q.inside.Add(1)
	defer q.inside.Add(-1)
	if n != 1 {
		return fmt.Errorf("%d inside", n)
	}
	sum, err := q.redis.Do(ctx, q.redis.B().Get().Key(stormCounter).Build()).AsInt64()
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := q.redis.Do(ctx, q.redis.B().Set().Key(stormCounter).Value(strconv.FormatInt(sum+1, 10)).Build()).Error(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// sum returns the sections of all workers, and fails the test for errors and for
// workers that were not served.
func (q *squad) sum(tb testing.TB, who string) (n int64) {
	tb.Helper()
	for w := range q.workers {
		if q.errs[w] != nil {
			tb.Errorf("%s, worker %d: %v", who, w, q.errs[w])
		}
		if q.served[w] == 0 {
			tb.Errorf("%s, worker %d was never served", who, w)
		}
		n += q.served[w]
	}
	return n
}

// wantCounter checks that no critical section was lost.
func wantCounter(t *testing.T, s *redistest.Server, sections int64) {
	t.Helper()
	n, err := s.MustDo("GET", stormCounter).AsInt64()
	if err != nil || n != sections {
		t.Errorf("the counter is %d after %d critical sections (%v): two were inside at a time", n, sections, err)
	}
	if locked, err := s.MustDo("EXISTS", stormName).AsInt64(); err != nil || locked != 0 {
		t.Errorf("EXISTS %s: %d, %v", stormName, locked, err)
	}
}

// report logs the figures of a storm.
func report(t *testing.T, lasts time.Duration, shares []int64, worst time.Duration) {
	t.Helper()
	var sum int64
	for _, n := range shares {
		sum += n
	}
	low, high := shares[0], shares[0]
	for _, n := range shares {
		low, high = min(low, n), max(high, n)
	}
	t.Logf("%.0f hand-overs/s; shares %v, max/min %.2f; longest wait %v",
		float64(sum)/lasts.Seconds(), shares, float64(high)/float64(max(low, 1)), worst.Round(time.Millisecond))
}

// 64 workers of four runtimes on one name.
func TestStormOfRuntimes(t *testing.T) {
	const runtimes, workers = 4, 16
	s := redistest.Start(t)
	s.MustDo("SET", stormCounter, "0")
	var inside atomic.Int32
	squads := make([]*squad, runtimes)
	for i := range squads {
		squads[i] = &squad{rt: start(t, option(s.Addr())), redis: s.Client(t), workers: workers, inside: &inside}
	}
	var wg sync.WaitGroup
	for _, q := range squads {
		wg.Go(func() { q.run(stormTime()) })
	}
	wg.Wait()
	var sections int64
	var shares []int64
	var worst time.Duration
	for i, q := range squads {
		shares = append(shares, q.sum(t, fmt.Sprint("runtime ", i)))
		sections += shares[i]
		for _, d := range q.worst {
			worst = max(worst, d)
		}
	}
	report(t, stormTime(), shares, worst)
	wantCounter(t, s, sections)
}
