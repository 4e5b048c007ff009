package holdfast_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

type subMessage = rueidis.PubSubMessage

// V2: the message that Redisson publishes wakes a waiter at once, far below the
// lease and the poll bound (10 s here), whoever held the lock. The holder that
// is pushed aside is told (S7).
func TestRawUnlockWakesWaiters(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const long, short = 30 * time.Second, 6 * time.Second
	waiting := newRuntime(t, s, long)
	remote := newRuntime(t, s, short) // finds out by its next renewal, after two seconds

	for name, holder := range map[string]*holdfast.Runtime{"held here": waiting, "held by another runtime": remote} {
		t.Run(name, func(t *testing.T) {
			old := mustLock(t, holder.Lock(name))
			f := waiting.Lock(name).LockAsync(soon(t))
			waitBehind(t, r, waiting.Lock(name), 1)
			start := time.Now()
			r.free(name)
			h := mustGet(t, f)
			if took := time.Since(start); took > 2500*time.Millisecond {
				t.Errorf("the message woke nobody: %v", took)
			}
			r.mustHold(name, h.Owner(), "1", long)
			mustEnd(t, old.Context(), holdfast.ErrLost)
			mustBe(t, old.Unlock(soon(t)), holdfast.ErrNotHeld, holdfast.ErrLost)
			r.mustHold(name, h.Owner(), "1", long) // S4
		})
	}
}

// V3: no message at all: a waiter still asks by the poll bound, a third of the
// watchdog timeout, even if the key it saw had no TTL.
func TestLostMessageIsMadeUpFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 1500*time.Millisecond)
	for name, lease := range map[string]string{"long lease": "3600000", "no lease": ""} {
		if lease == "" {
			s.MustDo("HSET", name, stranger, "1")
		} else {
			r.foreign(name, stranger, "1", lease)
		}
		f := rt.Lock(name).LockAsync(soon(t))
		waitBehind(t, r, rt.Lock(name), 1)
		s.MustDo("DEL", name)
		start := time.Now()
		h := mustGet(t, f)
		if took := time.Since(start); took > 2500*time.Millisecond {
			t.Errorf("%s: granted after %v, poll bound is 0.5 s", name, took)
		}
		r.mustHold(name, h.Owner(), "1", 1500*time.Millisecond)
	}
}

// V1: a holder that died leaves its lease behind, and the waiter gets the lock when that ends.
func TestDeadHolderFreesByItsLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second) // poll bound 10 s: it is the TTL that wakes the waiter
	r.foreign("n", stranger, "1", "600")
	start := time.Now()
	h := mustLock(t, rt.Lock("n"))
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("granted after %v, the dead holder's lease was 0.6 s", took)
	}
	r.mustHold("n", h.Owner(), "1", 30*time.Second)
}

// S15: a hash as Redisson writes it excludes us, and we can say who it is.
func TestRedissonHolderExcludesUs(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 3*time.Second)
	l := rt.Lock("n")
	r.foreign("n", stranger, "3", "60000")

	_, err := l.TryLock(soon(t))
	held, ok := errors.AsType[*holdfast.HeldError](err)
	if !ok || held.Owner.String() != stranger || held.TTL <= 50*time.Second || held.TTL > time.Minute {
		t.Fatalf("TryLock: %#v, want the stranger and its TTL", err)
	}
	st, err := l.Inspect(soon(t))
	if err != nil || !st.Locked || !st.Foreign || st.Owner.String() != stranger || st.Count != 3 || st.TTL <= 50*time.Second {
		t.Fatalf("Inspect: %+v %v", st, err)
	}
	who, err := holdfast.ParseOwner(stranger)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := l.HoldCount(soon(t), who); n != 3 || err != nil {
		t.Errorf("HoldCount: %d %v", n, err)
	}
	if yes, err := l.IsHeldBy(soon(t), rt.NewOwner()); yes || err != nil {
		t.Errorf("IsHeldBy of somebody else: %v %v", yes, err)
	}
	_, err = l.Lock(soon(t), holdfast.WaitFor(300*time.Millisecond))
	mustBe(t, err, holdfast.ErrNotAcquired)
	if got := r.fields("n"); len(got) != 1 || got[stranger] != "3" {
		t.Fatalf("the stranger's hash is now %v", got)
	}
	r.free("n")
	mustUnlock(t, mustLock(t, l))
}
