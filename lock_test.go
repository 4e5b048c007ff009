package holdfast_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// S1: one holder at a time, over two runtimes and all forms of acquiring; each
// holder's field is the only one in Redis while it holds.
func TestMutualExclusion(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	runtimes := []*holdfast.Runtime{newRuntime(t, s, 5*time.Second), newRuntime(t, s, 5*time.Second)}
	var inside, total atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		l := runtimes[i%2].Lock("n")
		wg.Go(func() {
			for range 15 {
				err := l.Do(soon(t), func(context.Context) error {
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d holders", n)
					}
					total.Add(1)
					inside.Add(-1)
					return nil
				})
				if err != nil {
					t.Errorf("Do: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if total.Load() != 8*15 {
		t.Errorf("%d entries, want %d", total.Load(), 8*15)
	}
	if r.exists("n") {
		t.Error("key left")
	}
}

// V6: waiters of one runtime are granted in order of arrival.
func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 5*time.Second)
	l := rt.Lock("n")
	first := mustLock(t, l)
	const n = 20
	fs := make([]*future.Future[*holdfast.Hold], n)
	for i := range fs {
		fs[i] = l.LockAsync(soon(t))
	}
	mustUnlock(t, first)
	next := 0
	for i, f := range future.Completed(soon(t), fs...) {
		if i != next {
			t.Fatalf("waiter %d was granted, want %d", i, next)
		}
		mustUnlock(t, mustGet(t, f))
		next++
	}
	if next != n {
		t.Fatalf("%d waiters granted, want %d", next, n)
	}
}

// Design section 6: a waiter in another process gets its turn while this one has
// plenty of waiters of its own.
func TestOtherRuntimesGetTheirTurn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	busy, other := newRuntime(t, s, 30*time.Second), newRuntime(t, s, 30*time.Second)
	first := mustLock(t, busy.Lock("n"))
	const n = 2000
	var granted atomic.Int32
	var wg sync.WaitGroup
	wg.Add(n)
	for range n {
		busy.Lock("n").LockAsync(soon(t)).OnComplete(func(h *holdfast.Hold, err error) {
			defer wg.Done()
			if err != nil {
				t.Errorf("local waiter: %v", err)
				return
			}
			granted.Add(1)
			h.UnlockAsync()
		})
	}
	f := other.Lock("n").LockAsync(soon(t))
	waitBehind(t, r, other.Lock("n"), 1)
	eventually(t, "both runtimes listen", func() bool { return r.listeners("n") == 2 })
	mustUnlock(t, first)
	h := mustGet(t, f)
	if before := granted.Load(); before > n/2 {
		t.Errorf("%d local waiters were served first; a run of hand-offs ends after 64 or 50 ms", before)
	}
	mustUnlock(t, h)
	wg.Wait()
}

// S7, V4: the watchdog keeps a claimed hold, and the TTL never above the lease;
// design section 7: nothing is renewed after the unlock.
func TestWatchdogRenewsUntilUnlock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 2 * time.Second
	rt := newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	for end := time.Now().Add(2*lease + lease/4); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !r.exists("n") && h.ValidFor() > 0 {
			t.Fatal("called valid although Redis has let go of it (S1)")
		}
		if cause := context.Cause(h.Context()); cause != nil {
			t.Fatalf("lost: %v", cause)
		}
		r.mustHold("n", h.Owner(), "1", lease)
		if v := h.ValidFor(); v <= 0 || v > lease {
			t.Fatalf("ValidFor is %v", v)
		}
	}
	mustUnlock(t, h)
	s.MustDo("CONFIG", "RESETSTAT")
	time.Sleep(lease)
	if r.ran("evalsha") || r.ran("eval") {
		t.Error("a script ran after the unlock: nothing was left to do")
	}
}

// Inspect and its short forms say who holds, how often, how long, and who waits.
func TestInspect(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 5 * time.Second
	here, there := newRuntime(t, s, lease), newRuntime(t, s, lease)
	l := here.Lock("n")

	if st, err := l.Inspect(soon(t)); err != nil || st.Locked || st.Foreign || st.Count != 0 || !st.Owner.IsZero() || st.LocalWaiters != 0 || st.RemoteWaiters != 0 {
		t.Fatalf("free: %+v %v", st, err)
	}
	if ttl, err := l.RemainingTTL(soon(t)); ttl != 0 || err != nil {
		t.Fatalf("RemainingTTL of a free lock: %v %v", ttl, err)
	}
	h := mustLock(t, l)
	mustLock(t, l, holdfast.As(h.Owner()))
	for range 2 {
		l.LockAsync(soon(t))
	}
	there.Lock("n").LockAsync(soon(t))
	waitBehind(t, r, l, 2)
	waitBehind(t, r, there.Lock("n"), 1)
	eventually(t, "both runtimes listen", func() bool { return r.listeners("n") == 2 })

	var st holdfast.State
	eventually(t, "one remote waiter", func() bool {
		var err error
		st, err = l.Inspect(soon(t))
		return err == nil && st.RemoteWaiters == 1
	})
	if !st.Locked || st.Foreign || st.Owner != h.Owner() || st.Count != 2 || st.TTL <= 0 || st.TTL > lease || st.LocalWaiters != 2 {
		t.Errorf("held here: %+v", st)
	}
	eventually(t, "the same picture from there", func() bool {
		st, err := there.Lock("n").Inspect(soon(t))
		return err == nil && st.Foreign && st.Owner == h.Owner() && st.Count == 2 && st.LocalWaiters == 1 && st.RemoteWaiters == 1
	})
	if yes, err := l.IsLocked(soon(t)); !yes || err != nil {
		t.Errorf("IsLocked: %v %v", yes, err)
	}
	if yes, err := l.IsHeldBy(soon(t), h.Owner()); !yes || err != nil {
		t.Errorf("IsHeldBy: %v %v", yes, err)
	}
	if n, err := l.HoldCount(soon(t), h.Owner()); n != 2 || err != nil {
		t.Errorf("HoldCount: %d %v", n, err)
	}
	if n, err := l.HoldCount(soon(t), here.NewOwner()); n != 0 || err != nil {
		t.Errorf("HoldCount of somebody else: %d %v", n, err)
	}
	if ttl, err := l.RemainingTTL(soon(t)); ttl <= 0 || ttl > lease || err != nil {
		t.Errorf("RemainingTTL: %v %v", ttl, err)
	}
	s.MustDo("HSET", "for ever", stranger, "1")
	if ttl, err := here.Lock("for ever").RemainingTTL(soon(t)); ttl != holdfast.NoTTL || err != nil {
		t.Errorf("RemainingTTL of a key without TTL: %v %v", ttl, err)
	}
}

// A waiter is a waiter also in the moment in which it asks Redis.
func TestInspectCountsWhoAsks(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 60*time.Millisecond) // asks every 20 ms
	r.foreign("n", stranger, "1", "60000")
	l := rt.Lock("n")
	f := l.LockAsync(soon(t))
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		st, err := l.Inspect(soon(t))
		if err == nil && st.LocalWaiters != 1 {
			t.Fatalf("LocalWaiters is %d while one waits", st.LocalWaiters)
		}
	}
	f.Cancel(nil)
}

// A name mapper changes the key and nothing that the user sees.
func TestNameMapper(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	lost := &losses{}
	rt := newRuntime(t, s, time.Second, holdfast.WithOnLost(lost.add),
		holdfast.WithNameMapper(func(name string) string { return "app:" + name }))
	l := rt.Lock("n")
	h := mustLock(t, l)
	r.mustHold("app:n", h.Owner(), "1", time.Second)
	if l.Name() != "n" || h.Name() != "n" || r.exists("n") {
		t.Errorf("names %q %q, exists(n) %v", l.Name(), h.Name(), r.exists("n"))
	}
	s.MustDo("DEL", "app:n")
	mustEnd(t, h.Context(), holdfast.ErrLost)
	eventually(t, "OnLost", func() bool { return len(lost.list()) == 1 })
	if i := lost.list()[0]; i.Name != "n" || i.Owner != h.Owner() {
		t.Errorf("OnLost was told %+v", i)
	}
}
