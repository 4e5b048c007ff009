package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// A request that is given up after its command left may be granted all the same.
// The grant is released then, by a release and not by its lease: that is 30 s in
// these tests, and gone has to be gone sooner.
const (
	givenUp = 500
	gone    = 15 * time.Second
)

type pending struct {
	*future.Future[*holdfast.Hold]
	cancel context.CancelFunc
}

// wantCanceled is called when no key is left: a grant that nobody took would
// still have its key, so reading the future claims nothing.
func wantCanceled(t *testing.T, futures []pending) {
	t.Helper()
	for i, f := range futures {
		if h, err, ok := f.TryGet(); !ok || h != nil || !errors.Is(err, holdfast.ErrCanceled) || !errors.Is(err, context.Canceled) {
			t.Fatalf("request %d, given up: %v, %v, done %v", i, h, err, ok)
		}
	}
}

// settled waits until every future is settled, one way or the other.
func settled(t *testing.T, futures []pending) {
	t.Helper()
	late := time.After(patience)
	for i, f := range futures {
		select {
		case <-f.Done():
		case <-late:
			t.Fatalf("request %d was never answered", i)
		}
	}
}

func wantNoKeys(t *testing.T, s *redistest.Server, names []string) {
	t.Helper()
	took := eventually(t, gone, "all keys are gone", func() bool { return keysLeft(s) == 0 })
	t.Logf("no key left after %v", took.Round(time.Millisecond))
	for _, name := range names {
		if n, err := s.MustDo("EXISTS", name).AsInt64(); err != nil || n != 0 {
			t.Errorf("EXISTS %s: %d, %v", name, n, err)
		}
	}
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("given-up-", i)
	}
	return list
}

// Cancelled at every moment between asking and holding, on one name and on many.
func TestCancelInFlight(t *testing.T) {
	for _, spread := range []int{1, givenUp} {
		t.Run(fmt.Sprint(spread, " names"), func(t *testing.T) {
			s := redistest.Start(t)
			rt := start(t, option(s.Addr()))
			list := names(spread)
			for range 3 {
				futures := make([]pending, givenUp)
				for i := range futures {
					ctx, cancel := context.WithCancel(t.Context())
					futures[i] = pending{rt.Lock(list[i%spread]).LockAsync(ctx), cancel}
					if n := rand.IntN(4); n > 0 { // at once, or when Redis has had time to run it
						time.AfterFunc(time.Duration(rand.IntN(n*n*300))*time.Microsecond, cancel)
					} else {
						cancel()
					}
				}
				settled(t, futures)
				wantNoKeys(t, s, list)
				wantCanceled(t, futures)
			}
			for _, name := range list { // and the name is as good as new
				unlock(t, lock(t, rt.Lock(name)))
			}
		})
	}
}

// Every one of these was granted by the server before it was given up: the
// replies are kept back, or lost, until it was.
func TestCancelAfterTheGrantLeft(t *testing.T) {
	for what, mode := range map[string]redistest.Mode{"replies late": redistest.HoldReplies, "replies lost": redistest.SwallowReplies} {
		t.Run(what, func(t *testing.T) {
			s := redistest.Start(t)
			proxy := redistest.NewProxy(t, s.Addr())
			o := option(proxy.Addr())
			// One connection, and no waiting for an answer before others may send:
			// the fault meets commands, and all of them arrive.
			o.PipelineMultiplex, o.AlwaysPipelining = -1, true
			rt := start(t, o)
			unlock(t, lock(t, rt.Lock("warm")))
			list := names(givenUp)
			proxy.SetMode(mode)
			futures := make([]pending, givenUp)
			for i := range futures {
				ctx, cancel := context.WithCancel(t.Context())
				futures[i] = pending{rt.Lock(list[i]).LockAsync(ctx), cancel}
			}
			eventually(t, patience, "all are granted by the server", func() bool { return keysLeft(s) == givenUp })
			for _, f := range futures {
				f.cancel()
			}
			settled(t, futures)
			proxy.Release()
			wantNoKeys(t, s, list)
			wantCanceled(t, futures)
		})
	}
}

// Waiters that give up leave the queue, the one behind them does not notice.
func TestCancelWaiters(t *testing.T) {
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()))
	l := rt.Lock("queue")
	h := lock(t, l)
	var stay []*future.Future[*holdfast.Hold]
	var leave []pending
	for range givenUp {
		ctx, cancel := context.WithCancel(t.Context())
		leave = append(leave, pending{l.LockAsync(ctx), cancel})
		if len(leave)%10 == 0 {
			stay = append(stay, l.LockAsync(t.Context()))
		}
	}
	for i, f := range leave {
		if i == len(leave)/2 {
			if err := h.Unlock(t.Context()); err != nil { // hand-offs meet cancels
				t.Fatal(err)
			}
		}
		f.cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i, f := range stay {
		next, err := f.Get(ctx)
		if err != nil {
			t.Fatalf("waiter %d, who stayed: %v", i, err)
		}
		unlock(t, next)
	}
	settled(t, leave)
	wantNoKeys(t, s, []string{"queue"})
	wantCanceled(t, leave)
}
