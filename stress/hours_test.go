package stress

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// These tests run inside a synctest bubble: its clock jumps when all goroutines
// wait, so an hour of renewals is over in milliseconds, and nothing happens
// between two instants that a test did not cause.

const (
	watchdog = holdfast.DefaultWatchdogTimeout

	// localDeadline is when a hold of the default lease ends here, if it is not
	// renewed: the lease less 1 % and 10 ms for what two clocks may differ by.
	localDeadline = watchdog - watchdog/100 - 10*time.Millisecond
)

// world is a Redis in the bubble, a runtime, and a count of the scripts run.
type world struct {
	*redistest.Bubble
	rt      *holdfast.Runtime
	scripts atomic.Int64
}

func newWorld(t *testing.T, opts ...holdfast.Option) *world {
	t.Helper()
	w := &world{Bubble: redistest.NewBubble(t)}
	w.rt = start(t, w.Option(), opts...)
	w.Mini().Server().SetPreHook(func(_ *server.Peer, cmd string, _ ...string) bool {
		if strings.HasPrefix(strings.ToUpper(cmd), "EVAL") {
			w.scripts.Add(1)
		}
		return false
	})
	return w
}

// during counts the scripts that run while d passes.
func (w *world) during(d time.Duration) int64 {
	before := w.scripts.Load()
	w.Advance(d)
	return w.scripts.Load() - before
}

func TestAnHourOfRenewals(t *testing.T) {
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		h := lock(t, w.rt.Lock("lock"))
		// One renewal per third of the watchdog timeout: up to a tenth of it
		// earlier for jitter, up to a slot of the wheel (100 ms) later.
		const third = watchdog / 3
		least, most := int64(time.Hour/(third+150*time.Millisecond)), int64(time.Hour/(third*9/10))+1
		n := w.during(time.Hour)
		if n < least || n > most {
			t.Errorf("%d renewals in an hour, want %d to %d", n, least, most)
		}
		if h.ValidFor() <= watchdog/2 || h.Context().Err() != nil {
			t.Errorf("after an hour: valid for %v, %v", h.ValidFor(), context.Cause(h.Context()))
		}
		if ttl := w.Mini().TTL("lock"); ttl < watchdog/2 {
			t.Errorf("after an hour: TTL %v", ttl)
		}
		unlock(t, h)
		if w.Mini().Exists("lock") {
			t.Error("the key outlives the unlock")
		}
		if n := w.during(time.Hour); n != 0 {
			t.Errorf("%d scripts in the hour after the unlock", n)
		}
		t.Logf("%d renewals", n)
	})
	t.Logf("two hours took %v", time.Since(began).Round(time.Millisecond))
}

func TestNobodyClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := w.rt.Lock("lock").LockAsync(t.Context())
		w.Advance(time.Second)
		if !f.IsDone() || !w.Mini().Exists("lock") {
			t.Fatal("not granted")
		}
		if n := w.during(watchdog - 2*time.Second); n != 0 {
			t.Errorf("%d scripts for a grant that nobody took", n)
		}
		if !w.Mini().Exists("lock") {
			t.Error("the grant ended before its lease")
		}
		w.Advance(2 * time.Second)
		if w.Mini().Exists("lock") {
			t.Error("the key outlives the lease of a grant that nobody took")
		}
		if h, err, ok := f.TryGet(); !ok || h != nil || !errors.Is(err, holdfast.ErrLost) {
			t.Errorf("the grant says %v, %v, %v", h, err, ok)
		}
	})
}

// The ctx of a request governs its grant until somebody takes it.
func TestUnclaimedGrantEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f := w.rt.Lock("lock").LockAsync(ctx)
		w.Advance(4900 * time.Millisecond)
		if !w.Mini().Exists("lock") {
			t.Error("given back too early")
		}
		w.Advance(200 * time.Millisecond)
		if w.Mini().Exists("lock") {
			t.Error("the grant outlives its ctx")
		}
		if _, err := f.Get(t.Context()); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, holdfast.ErrCanceled) {
			t.Errorf("the grant says %v", err)
		}
	})
}

// The network goes: the hold ends here, to the millisecond, while the key is
// still there.
func TestHoldEndsBeforeItsKey(t *testing.T) {
	for _, fault := range []redistest.Fault{redistest.DropRequests, redistest.DropReplies} {
		synctest.Test(t, func(t *testing.T) {
			var told atomic.Int32
			w := newWorld(t, holdfast.WithOnLost(func(i holdfast.LostInfo) {
				if i.Reason == "expired" && i.Err != nil {
					told.Add(1)
				}
			}))
			w.Advance(time.Second)
			asked := time.Now()
			h := lock(t, w.rt.Lock("lock"))
			w.SetFault(fault)
			<-h.Context().Done()
			if took := time.Since(asked); took < localDeadline || took > localDeadline+5*time.Millisecond {
				t.Errorf("the hold ended after %v, want %v", took, localDeadline)
			}
			if ttl := w.Mini().TTL("lock"); ttl <= 0 {
				t.Error("the hold ended after its key")
			} else {
				t.Logf("the key lives for another %v", ttl)
			}
			if !errors.Is(context.Cause(h.Context()), holdfast.ErrLost) || h.ValidFor() != 0 {
				t.Errorf("cause %v, valid for %v", context.Cause(h.Context()), h.ValidFor())
			}
			select {
			case <-h.Lost():
			default:
				t.Error("Lost is not closed")
			}
			synctest.Wait()
			if told.Load() != 1 {
				t.Errorf("OnLost was told %d times of an expiry with a reason", told.Load())
			}
			w.SetFault(redistest.NoFault)
			w.Advance(2 * watchdog)
			if w.Mini().Exists("lock") {
				t.Error("somebody renews a lost hold")
			}
			unlock(t, lock(t, w.rt.Lock("lock")))
		})
	}
}

// A fixed lease has no watchdog: it ends by itself, here first.
func TestFixedLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		h := lock(t, w.rt.Lock("lock"), holdfast.LeaseFor(10*time.Second))
		asked := time.Now()
		before := w.scripts.Load()
		<-h.Lost()
		const want = 10*time.Second - 110*time.Millisecond
		if took := time.Since(asked); took < want || took > want+5*time.Millisecond {
			t.Errorf("the lease ended after %v, want %v", took, want)
		}
		if ttl := w.Mini().TTL("lock"); ttl <= 0 {
			t.Error("the hold ended after its key")
		}
		if n := w.scripts.Load() - before; n != 0 {
			t.Errorf("%d scripts during a fixed lease", n)
		}
		w.Advance(time.Second)
		if w.Mini().Exists("lock") {
			t.Error("the key outlives its lease")
		}
	})
}

// The network is away for less than a lease: nothing is lost, renewals catch up.
func TestShortOutageIsSurvived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		h := lock(t, w.rt.Lock("lock"))
		w.Advance(5 * time.Second)
		w.SetFault(redistest.DropRequests)
		w.Advance(20 * time.Second)
		w.SetFault(redistest.NoFault)
		w.Advance(3 * time.Second)
		if left := h.ValidFor(); left < 20*time.Second {
			t.Errorf("valid for %v after the outage", left)
		}
		w.Advance(time.Hour)
		if h.Context().Err() != nil {
			t.Errorf("the hold ended: %v", context.Cause(h.Context()))
		}
		unlock(t, h)
	})
}

// foreign makes a lock of somebody else's, who never publishes a word.
func (w *world) foreign(ttl time.Duration) {
	w.Mini().HSet("lock", "5e7d3f6c-0000-4000-8000-000000000000:1", "1")
	if ttl > 0 {
		w.Mini().SetTTL("lock", ttl)
	}
}

// Messages may be lost: a waiter asks by itself every ten seconds, or when the
// holder's lease ends.
func TestWaiterPolls(t *testing.T) {
	const poll = 10*time.Second + 10*time.Second/16 + time.Second
	t.Run("deleted in silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.foreign(time.Hour)
			f := w.rt.Lock("lock").LockAsync(t.Context())
			if n := w.during(time.Minute); n < 5 || n > 12 {
				t.Errorf("%d attempts in a minute of waiting", n)
			}
			w.Mini().Del("lock")
			began := time.Now()
			h, err := f.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > poll {
				t.Errorf("noticed after %v", took)
			}
			unlock(t, h)
		})
	})
	t.Run("a key without TTL", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.foreign(0)
			f := w.rt.Lock("lock").LockAsync(t.Context())
			if n := w.during(time.Hour); n < 300 || n > 370 {
				t.Errorf("%d attempts in an hour of waiting", n)
			}
			w.Mini().Del("lock")
			w.Advance(poll)
			h, err, ok := f.TryGet()
			if !ok || err != nil {
				t.Fatalf("not noticed: %v", err)
			}
			unlock(t, h)
		})
	})
	t.Run("the lease ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.foreign(3 * time.Second)
			began := time.Now()
			h := lock(t, w.rt.Lock("lock"))
			if took := time.Since(began); took < 2990*time.Millisecond || took > 4*time.Second {
				t.Errorf("granted %v after a lease of 3 s began", took)
			}
			unlock(t, h)
		})
	})
	t.Run("a message comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.foreign(time.Hour)
			f := w.rt.Lock("lock").LockAsync(t.Context())
			w.Advance(15 * time.Second)
			w.Mini().Del("lock")
			if n := w.Mini().Publish("redisson_lock__channel:{lock}", "0"); n != 1 {
				t.Errorf("%d subscribers heard of the unlock", n)
			}
			w.Advance(100 * time.Millisecond)
			h, err, ok := f.TryGet()
			if !ok || err != nil {
				t.Fatalf("a message woke nobody: %v", err)
			}
			unlock(t, h)
		})
	})
}

// WaitFor bounds the wait to the millisecond, and leaves nothing.
func TestWaitForEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.foreign(time.Hour)
		began := time.Now()
		_, err := w.rt.Lock("lock").Lock(t.Context(), holdfast.WaitFor(7*time.Second))
		if !errors.Is(err, holdfast.ErrNotAcquired) {
			t.Errorf("the wait ended with %v", err)
		}
		if took := time.Since(began); took < 7*time.Second || took > 7*time.Second+5*time.Millisecond {
			t.Errorf("the wait took %v", took)
		}
		w.Advance(time.Second)
		if n := w.during(time.Hour - time.Minute); n != 0 {
			t.Errorf("%d scripts after the wait was over", n)
		}
	})
}
