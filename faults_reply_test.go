package holdfast_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Replies get lost: rows 7 to 10. What happened is unknown then, and is settled,
// never repeated blindly: the count stays right (S5), nobody is told that they
// hold when Redis says otherwise, and no key is left (V8).

// replyTest is a runtime behind a proxy, with a lease so long that no test can
// mistake an expiry for a clean-up.
func replyTest(t *testing.T) (raw, *redistest.Proxy, *holdfast.Runtime) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	o := clientOption(p.Addr())
	o.PipelineMultiplex = -1 // one connection: the fault then meets the command, not the handshake of another
	rt, err := holdfast.New(o, holdfast.WithWatchdogTimeout(replyLease))
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	closeAtEnd(t, rt)
	mustUnlock(t, mustLock(t, rt.Lock("warm-up")))
	return raw{t, s}, p, rt
}

const (
	replyLease = 5 * time.Second // a command counts as lost after half a second
	cleanUp    = 3 * time.Second // what is gone by then was not gone by its lease
)

// waitCounts polls until the name's hash holds exactly these counts.
func (r raw) waitCounts(name string, want map[string]string) {
	r.t.Helper()
	eventually(r.t, "the hash is as expected", func() bool {
		got := r.fields(name)
		if len(got) != len(want) {
			return false
		}
		for k, v := range want {
			if got[k] != v {
				return false
			}
		}
		return true
	})
}

func TestReplyLostOnAcquire(t *testing.T) {
	r, p, rt := replyTest(t)
	p.SetMode(redistest.SwallowReplies)
	f := rt.Lock("n").LockAsync(soon(t))
	eventually(t, "the script ran", func() bool { return r.exists("n") })
	if f.IsDone() {
		t.Fatal("granted without a reply")
	}
	time.Sleep(replyLease / 5) // the command's deadline passes once or twice
	p.Release()
	h := mustGet(t, f)
	if h.Count() != 1 {
		t.Errorf("Count is %d", h.Count())
	}
	r.mustHold("n", h.Owner(), "1", replyLease)
	mustUnlock(t, h)
	if r.exists("n") {
		t.Error("key left")
	}
}

// The caller leaves before the reply is made up for: the ghost's field goes.
func TestReplyLostOnAcquireThatIsGivenUp(t *testing.T) {
	r, p, rt := replyTest(t)
	p.SetMode(redistest.SwallowReplies)
	ctx, cancel := context.WithCancel(context.Background())
	f := rt.Lock("n").LockAsync(ctx)
	eventually(t, "the script ran", func() bool { return r.exists("n") })
	cancel()
	_, err := f.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled, context.Canceled)
	p.Release()
	until(t, cleanUp, "the ghost is gone", func() bool { return !r.exists("n") })
	mustUnlock(t, mustLock(t, rt.Lock("n")))
}

// A single attempt does not ask again: it says that it does not know, and cleans up.
func TestReplyLostOnTryLock(t *testing.T) {
	r, p, rt := replyTest(t)
	p.SetMode(redistest.SwallowReplies)
	_, err := rt.Lock("n").TryLock(soon(t))
	mustBe(t, err, holdfast.ErrUnavailable)
	mustNotBe(t, err, holdfast.ErrNotAcquired)
	p.Release()
	eventually(t, "the ghost is gone", func() bool { return !r.exists("n") })
	h, err := rt.Lock("n").TryLock(soon(t))
	if err != nil {
		t.Fatalf("TryLock after healing: %v", err)
	}
	r.mustHold("n", h.Owner(), "1", replyLease)
}

func TestReplyLostOnUnlock(t *testing.T) {
	r, p, rt := replyTest(t)
	h := mustLock(t, rt.Lock("n"))
	p.SetMode(redistest.SwallowReplies)
	f := h.UnlockAsync()
	eventually(t, "the script ran", func() bool { return !r.exists("n") })
	r.foreign("n", stranger, "1", "60000") // somebody is quick: the unlock that is sent again must not touch it
	p.Release()
	if _, err := f.Get(soon(t)); err != nil {
		t.Errorf("Unlock that had worked: %v", err)
	}
	if got := r.fields("n"); got[stranger] != "1" || len(got) != 1 {
		t.Errorf("the stranger's hash is now %v", got)
	}
}

func TestReplyLostOnHandOff(t *testing.T) {
	r, p, rt := replyTest(t)
	h := mustLock(t, rt.Lock("n"))
	next := rt.Lock("n").LockAsync(soon(t))
	waitBehind(t, r, rt.Lock("n"), 1)
	p.SetMode(redistest.SwallowReplies)
	f := h.UnlockAsync()
	eventually(t, "the script ran", func() bool { return r.fields("n")[h.Owner().String()] == "" })
	p.Release()
	if _, err := f.Get(soon(t)); err != nil {
		t.Errorf("Unlock that had worked: %v", err)
	}
	n := mustGet(t, next)
	if n.Count() != 1 {
		t.Errorf("Count is %d", n.Count())
	}
	r.mustHold("n", n.Owner(), "1", replyLease)
	mustUnlock(t, n)
	if r.exists("n") {
		t.Error("key left")
	}
}

// The hand-off's target gives up while nobody knows whether it has the lock: it is
// not left with a lock that nobody unlocks.
func TestReplyLostOnHandOffThatIsGivenUp(t *testing.T) {
	r, p, rt := replyTest(t)
	h := mustLock(t, rt.Lock("n"))
	ctx, cancel := context.WithCancel(context.Background())
	next := rt.Lock("n").LockAsync(ctx)
	waitBehind(t, r, rt.Lock("n"), 1)
	p.SetMode(redistest.SwallowReplies)
	h.UnlockAsync()
	eventually(t, "the script ran", func() bool { return r.fields("n")[h.Owner().String()] == "" })
	cancel()
	_, err := next.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled)
	p.Release()
	until(t, cleanUp, "the key is gone", func() bool { return !r.exists("n") })
}

func TestReplyLostOnReentry(t *testing.T) {
	r, p, rt := replyTest(t)
	h := mustLock(t, rt.Lock("n"))
	p.SetMode(redistest.SwallowReplies)
	f := rt.Lock("n").LockAsync(h.Context())
	r.waitCounts("n", map[string]string{h.Owner().String(): "2"})
	p.Release()
	again := mustGet(t, f)
	if again.Count() != 2 {
		t.Errorf("Count is %d", again.Count())
	}
	r.mustHold("n", h.Owner(), "2", replyLease)
	mustUnlock(t, again)
	r.mustHold("n", h.Owner(), "1", replyLease)
	mustUnlock(t, h)
	if r.exists("n") {
		t.Error("key left")
	}
}

// Redisson #6025, #7367: the count that an abandoned re-entry left is put right.
func TestReplyLostOnReentryThatIsGivenUp(t *testing.T) {
	r, p, rt := replyTest(t)
	h := mustLock(t, rt.Lock("n"))
	p.SetMode(redistest.SwallowReplies)
	ctx, cancel := context.WithCancel(h.Context())
	f := rt.Lock("n").LockAsync(ctx)
	r.waitCounts("n", map[string]string{h.Owner().String(): "2"})
	cancel()
	_, err := f.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled)
	p.Release()
	r.waitCounts("n", map[string]string{h.Owner().String(): "1"})
	if h.Context().Err() != nil {
		t.Fatalf("the hold ended: %v", context.Cause(h.Context()))
	}
	mustUnlock(t, h)
	if r.exists("n") {
		t.Error("key left")
	}
}

// Row 10: a request that the network held back arrives after its caller has gone.
func TestRequestDeliveredLate(t *testing.T) {
	for name, late := range map[string]time.Duration{
		"within the command's deadline": 100 * time.Millisecond,
		"after the command's deadline":  1300 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			r, p, rt := replyTest(t)
			r.MustDo("CONFIG", "RESETSTAT")
			p.SetMode(redistest.Hold)
			_, err := rt.Lock("n").Lock(within(t, late))
			mustBe(t, err, holdfast.ErrNotAcquired, context.DeadlineExceeded)
			if r.ran("evalsha") {
				t.Fatal("the request was not held")
			}
			p.Release()
			eventually(t, "the late request ran", func() bool { return r.ran("hset") })
			until(t, cleanUp, "its key is gone", func() bool { return !r.exists("n") })
			mustUnlock(t, mustLock(t, rt.Lock("n")))
		})
	}
}
