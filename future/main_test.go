package future

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errBoom  = errors.New("boom")
	errCause = errors.New("the caller went home")
)

// ledger is a Keeper that writes down what it is told.
type ledger struct {
	mu     sync.Mutex
	events []string
}

func (l *ledger) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, fmt.Sprintf(format, args...))
}

func (l *ledger) Claimed(v int) { l.add("claimed %d", v) }
func (l *ledger) Canceled(cause error, v int, settled bool) {
	l.add("canceled %d %v: %v", v, settled, cause)
}
func (l *ledger) Discarded(v int) { l.add("discarded %d", v) }

// want fails the test unless exactly these events were noted since the last call.
func (l *ledger) want(t *testing.T, events ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.events, events) {
		t.Errorf("keeper saw %q, want %q", l.events, events)
	}
	l.events = nil
}

// kept is a promise with a ledger.
func kept() (*Promise[int], *ledger) {
	p, l := new(Promise[int]), new(ledger)
	p.Init(l)
	return p, l
}

// several makes n of them, and a slice of their futures.
func several(n int) ([]*Promise[int], []*ledger, []*Future[int]) {
	ps, ls, fs := make([]*Promise[int], n), make([]*ledger, n), make([]*Future[int], n)
	for i := range n {
		ps[i], ls[i] = kept()
		fs[i] = ps[i].Future()
	}
	return ps, ls, fs
}

// bubble runs f in a bubble and lets everything that f started come to rest before f's caller goes on.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t)
		synctest.Wait()
	})
}

// wantErr fails unless err wraps all of targets; with none, unless err is nil.
func wantErr(t *testing.T, err error, targets ...error) {
	t.Helper()
	if len(targets) == 0 && err != nil {
		t.Errorf("error %v, want none", err)
	}
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("error %v, want one that is %q", err, target)
		}
	}
}

// wantGet fails unless f is done with v and an error that wraps targets.
func wantGet[T comparable](t *testing.T, f *Future[T], v T, targets ...error) {
	t.Helper()
	if !f.IsDone() {
		t.Errorf("future is not done")
		return
	}
	got, err := f.Get(context.Background())
	wantErr(t, err, targets...)
	if got != v {
		t.Errorf("value %v, want %v", got, v)
	}
}

// wantPending fails if f is done.
func wantPending[T any](t *testing.T, f *Future[T]) {
	t.Helper()
	if f.IsDone() {
		t.Errorf("future is done")
	}
}

// isClosed tells whether c is closed now.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
