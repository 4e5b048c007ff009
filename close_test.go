package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// V9: Close ends everything and leaves nothing. These tests do not run beside
// others: each looks for goroutines of its own.

// noLeak fails if there is a goroutine at the end that was not there now.
func noLeak(t *testing.T) {
	t.Helper()
	now := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, now) })
}

func TestCloseSettlesEverything(t *testing.T) {
	noLeak(t)
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second)
	l := rt.Lock("n")
	h := mustLock(t, l)
	inner := mustLock(t, l, holdfast.As(h.Owner()))
	unclaimed := rt.Lock("unclaimed").LockAsync(context.Background())
	<-unclaimed.Done()
	r.foreign("java", stranger, "1", "60000")

	pending := map[string]*future.Future[*holdfast.Hold]{
		"behind a hold":      l.LockAsync(context.Background()),
		"behind a stranger":  rt.Lock("java").LockAsync(context.Background()),
		"with a bound":       rt.Lock("java").LockAsync(soon(t), holdfast.WaitFor(time.Minute)),
		"behind a grant":     rt.Lock("unclaimed").LockAsync(soon(t)),
		"of the same tenure": nil,
	}
	pending["of the same tenure"] = l.LockAsync(holdfast.ContextWithoutOwner(h.Context()))
	blocked := make(chan error, 1)
	go func() { _, err := rt.Lock("java").Lock(context.Background()); blocked <- err }()
	waitBehind(t, r, rt.Lock("java"), 3)
	waitBehind(t, r, l, 2)

	if err := rt.Close(soon(t)); err != nil {
		t.Fatalf("Close: %v", err)
	}
	for what, f := range pending {
		if !f.IsDone() {
			t.Fatalf("future %s is pending after Close", what)
		}
		_, err := f.Get(soon(t))
		mustBe(t, err, holdfast.ErrClosed)
	}
	mustBe(t, <-blocked, holdfast.ErrClosed)
	_, err := unclaimed.Get(soon(t))
	mustBe(t, err, holdfast.ErrClosed)
	mustEnd(t, h.Context(), holdfast.ErrClosed)
	mustEnd(t, inner.Context(), holdfast.ErrClosed)
	select {
	case <-h.Lost():
		t.Error("released by Close is not lost")
	default:
	}
	if r.exists("n") || r.exists("unclaimed") || r.fields("java")[stranger] != "1" {
		t.Error("Redis: a lock of ours is left, or the stranger's is not")
	}
	if n := r.listeners("n") + r.listeners("java"); n != 0 {
		t.Errorf("%d subscriptions left", n)
	}
	afterClose(t, rt, h)
}

// afterClose: every call of a closed runtime is ErrClosed, and sends nothing.
func afterClose(t *testing.T, rt *holdfast.Runtime, h *holdfast.Hold) {
	t.Helper()
	l := rt.Lock("n")
	for name, call := range map[string]func() error{
		"Lock":         func() error { _, err := l.Lock(soon(t)); return err },
		"TryLock":      func() error { _, err := l.TryLock(soon(t)); return err },
		"LockAsync":    func() error { _, err := l.LockAsync(soon(t)).Get(soon(t)); return err },
		"TryLockAsync": func() error { _, err := l.TryLockAsync(soon(t)).Get(soon(t)); return err },
		"re-entry":     func() error { _, err := l.Lock(soon(t), holdfast.As(h.Owner())); return err },
		"a new name":   func() error { _, err := rt.Lock("never seen").Lock(soon(t)); return err },
		"Do":           func() error { return l.Do(soon(t), func(context.Context) error { return nil }) },
		"ForceUnlock":  func() error { _, err := l.ForceUnlock(soon(t)); return err },
		"Inspect":      func() error { _, err := l.Inspect(soon(t)); return err },
		"IsLocked":     func() error { _, err := l.IsLocked(soon(t)); return err },
		"RemainingTTL": func() error { _, err := l.RemainingTTL(soon(t)); return err },
		"Unlock":       func() error { return h.Unlock(soon(t)) },
		"Extend":       func() error { return h.Extend(soon(t), time.Minute) },
	} {
		err := call()
		if !errors.Is(err, holdfast.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

// Close of many names while they are handed on: nothing is left, and nobody waits.
func TestCloseUnderLoad(t *testing.T) {
	noLeak(t)
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second)
	var wg sync.WaitGroup
	for i := range 40 {
		l := rt.Lock(fmt.Sprint("n", i%10))
		wg.Go(func() {
			for {
				err := l.Do(context.Background(), func(context.Context) error { return nil })
				if err == nil {
					continue
				}
				mustBeErr(t, err, holdfast.ErrClosed)
				return
			}
		})
	}
	held := make([]*holdfast.Hold, 100)
	for i := range held {
		held[i] = mustLock(t, rt.Lock(fmt.Sprint("held", i)))
	}
	time.Sleep(100 * time.Millisecond)
	if err := rt.Close(soon(t)); err != nil {
		t.Fatalf("Close: %v", err)
	}
	wg.Wait()
	for _, h := range held {
		mustEnd(t, h.Context(), holdfast.ErrClosed)
	}
	if n := r.number("DBSIZE"); n != 0 {
		t.Errorf("%d keys left", n)
	}
}

// The second Close says what the first said, also while that is under way.
func TestCloseTwice(t *testing.T) {
	noLeak(t)
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 30*time.Second)
	mustLock(t, rt.Lock("n"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := rt.Close(soon(t)); err != nil {
				t.Errorf("Close: %v", err)
			}
			if r.number("EXISTS", "n") != 0 {
				t.Error("Close returned before the lock was released")
			}
		})
	}
	wg.Wait()
	if err := rt.Close(soon(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Close of a runtime that shares a client leaves the client alone.
func TestCloseLeavesASharedClient(t *testing.T) {
	noLeak(t)
	s := redistest.Start(t)
	c := s.Client(t)
	rt, err := holdfast.New(clientOption("127.0.0.1:1"), holdfast.WithClient(c))
	if err != nil {
		t.Fatal(err)
	}
	mustLock(t, rt.Lock("n"))
	if err := rt.Close(soon(t)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Do(soon(t), c.B().Exists().Key("n").Build()).AsInt64(); n != 0 || err != nil {
		t.Errorf("EXISTS over the shared client: %d %v", n, err)
	}
}

// V9 with Redis frozen: Close returns by its ctx, settles everything, says what it
// could not do, and the keys end with their leases.
func TestCloseFrozen(t *testing.T) {
	noLeak(t)
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 3 * time.Second
	rt := newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	f := rt.Lock("n").LockAsync(context.Background())
	waitBehind(t, r, rt.Lock("n"), 1)
	s.Pause()
	flying := rt.Lock("m").LockAsync(context.Background())
	start := time.Now()
	err := rt.Close(within(t, 300*time.Millisecond))
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("Close returned after %v, its ctx ended after 0.3 s", took)
	}
	mustBe(t, err, holdfast.ErrUnavailable, context.DeadlineExceeded)
	mustEnd(t, h.Context(), holdfast.ErrClosed)
	for _, f := range []*future.Future[*holdfast.Hold]{f, flying} {
		if !f.IsDone() {
			t.Fatal("a future is pending after Close")
		}
		_, err := f.Get(soon(t))
		mustBe(t, err, holdfast.ErrClosed)
	}
	if again := rt.Close(soon(t)); again != err {
		t.Errorf("second Close: %v, first %v", again, err)
	}
	s.Resume()
	until(t, 2*lease, "the keys end with their leases", func() bool { return r.number("DBSIZE") == 0 })
}

// mustBeErr is mustBe for other goroutines than the test's.
func mustBeErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want one that matches %v", err, target)
	}
}
