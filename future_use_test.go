package holdfast_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Requests as futures: who may end what (design section 5, S3, S14).

// One reader's ctx ends that reader's wait; the request goes on.
func TestGetEndsEarly(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := newRuntime(t, s, 5*time.Second).Lock("n")
	h := mustLock(t, l)
	f := l.LockAsync(soon(t))
	_, err := f.Get(within(t, 100*time.Millisecond))
	mustBe(t, err, context.DeadlineExceeded)
	mustNotBe(t, err, holdfast.ErrCanceled, holdfast.ErrNotAcquired)
	if f.IsDone() {
		t.Fatal("the request is over")
	}
	mustUnlock(t, h)
	next := mustGet(t, f)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if again, err := f.Get(ended); again != next || err != nil {
		t.Errorf("a ready result against a done ctx: %v %v", again, err)
	}
	mustUnlock(t, next)
}

// Cancel gives back a grant that nobody took, and leaves one that somebody took.
func TestCancelOfAGrant(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second)
	f := rt.Lock("n").LockAsync(soon(t))
	<-f.Done()
	if !r.exists("n") {
		t.Fatal("done without a key")
	}
	if !f.Cancel(nil) {
		t.Fatal("Cancel of an unclaimed grant did nothing")
	}
	_, err := f.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled)
	until(t, 10*time.Second, "the key is gone, long before its lease", func() bool { return !r.exists("n") })

	h := mustLock(t, rt.Lock("n"))
	if h := rt.Lock("m").LockAsync(soon(t)); mustGet(t, h) == nil || h.Cancel(nil) {
		t.Error("Cancel took back a hold that somebody has")
	}
	if !r.exists("m") || h.Context().Err() != nil {
		t.Error("a hold ended")
	}
}

// Cancel of a waiting request: the next in line is not held up, nobody else gets it.
func TestCancelOfAWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 30*time.Second).Lock("n")
	h := mustLock(t, l)
	first, second := l.LockAsync(soon(t)), l.LockAsync(soon(t))
	waitBehind(t, r, l, 2)
	reason := context.DeadlineExceeded
	if !first.Cancel(reason) || first.Cancel(nil) {
		t.Error("the first Cancel decides, and no other")
	}
	_, err := first.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled, reason)
	mustUnlock(t, h)
	mustUnlock(t, mustGet(t, second))
	if r.exists("n") {
		t.Error("key left")
	}
}

// Design section 4, step 7: no claim, no renewal. What nobody takes ends by its
// lease, is not called lost, and what was claimed meanwhile goes on.
func TestUnclaimedIsNotRenewed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1500 * time.Millisecond
	lost := &losses{}
	rt := newRuntime(t, s, lease, holdfast.WithOnLost(lost.add))
	claimed := mustGet(t, rt.Lock("claimed").LockAsync(context.Background()))
	f := rt.Lock("unclaimed").LockAsync(context.Background())
	<-f.Done()
	granted := time.Now()
	until(t, 2*lease, "the unclaimed key is gone by its lease", func() bool { return !r.exists("unclaimed") })
	if early := time.Since(granted); early < lease/2 {
		t.Errorf("gone after %v already", early)
	}
	_, err := f.Get(soon(t))
	mustBe(t, err, holdfast.ErrLost, holdfast.ErrCanceled)
	time.Sleep(lease)
	if claimed.Context().Err() != nil {
		t.Fatalf("the claimed hold ended: %v", context.Cause(claimed.Context()))
	}
	r.mustHold("claimed", claimed.Owner(), "1", lease)
	mustUnlock(t, claimed)
	if n := len(lost.list()); n != 0 {
		t.Errorf("OnLost was called %d times for what nobody had", n)
	}
}

// A late claim is a claim: renewals begin then.
func TestLateClaimIsRenewed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 2400 * time.Millisecond
	f := newRuntime(t, s, lease).Lock("n").LockAsync(context.Background())
	<-f.Done()
	time.Sleep(lease / 2) // the renewal at a third of the lease did not take place
	h := mustGet(t, f)
	time.Sleep(lease)
	if h.Context().Err() != nil {
		t.Fatalf("ended: %v", context.Cause(h.Context()))
	}
	r.mustHold("n", h.Owner(), "1", lease)
}

// Design section 5: a grant that nobody took is given back when its ctx ends.
func TestUnclaimedIsGivenBackWithItsCtx(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	l := newRuntime(t, s, 30*time.Second).Lock("n")
	ctx, cancel := context.WithCancel(context.Background())
	f := l.LockAsync(ctx)
	<-f.Done()
	next := l.LockAsync(context.Background())
	cancel()
	h := mustGet(t, next) // 30 s before the lease would have freed it
	r.mustHold("n", h.Owner(), "1", 30*time.Second)
	_, err := f.Get(soon(t))
	mustBe(t, err, holdfast.ErrCanceled, context.Canceled)
}

// S14: callbacks and combinators deal in holds like in any value; what they drop
// is unlocked.
func TestCombinators(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second)

	holds, err := future.All(soon(t), rt.Lock("a").LockAsync(soon(t)), rt.Lock("b").LockAsync(soon(t)))
	if err != nil || len(holds) != 2 || holds[0].Name() != "a" || holds[1].Name() != "b" {
		t.Fatalf("All: %v %v", holds, err)
	}
	first, err := future.Any(soon(t), rt.Lock("a").LockAsync(soon(t)), rt.Lock("c").LockAsync(soon(t)))
	if err != nil || first.Name() != "c" {
		t.Fatalf("Any: %v %v", first, err)
	}
	eventually(t, "the loser's request is gone", func() bool {
		st, err := rt.Lock("a").Inspect(soon(t))
		return err == nil && st.LocalWaiters == 0
	})
	_, err = future.All(soon(t), rt.Lock("d").LockAsync(soon(t)), rt.Lock("c").TryLockAsync(soon(t)))
	mustBe(t, err, holdfast.ErrNotAcquired)
	until(t, 10*time.Second, "the sibling's lock is given back", func() bool { return !r.exists("d") })

	called := make(chan *holdfast.Hold, 1)
	rt.Lock("e").LockAsync(soon(t)).OnComplete(func(h *holdfast.Hold, err error) {
		if err != nil {
			t.Errorf("OnComplete: %v", err)
		}
		called <- h
	})
	mustUnlock(t, <-called)
	for _, h := range append(holds, first) {
		mustUnlock(t, h)
	}
	if n := r.number("DBSIZE"); n != 0 {
		t.Errorf("%d keys left", n)
	}
}
