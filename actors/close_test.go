package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestClosedSystemAnswersErrClosed(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	held := r.take("held")
	unclaimed := r.acquire(ctx, "unclaimed")
	r.eventually("the grant arrives", unclaimed.Granted().IsDone)
	waiter := r.acquire(ctx, "held")
	timed := r.acquire(ctx, "held", waitAtMost(time.Hour))
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}

	for name, h := range map[string]*Hold{"waiting": waiter, "timed": timed, "unclaimed": unclaimed} {
		if _, err, ok := h.Granted().TryGet(); !ok || !errors.Is(err, ErrClosed) {
			t.Errorf("a %s request after Close: %v, done %v", name, err, ok)
		}
	}
	wantCause(t, held, ErrClosed)
	select {
	case <-held.Lost():
		t.Error("a hold that Close released counts as lost")
	default:
	}
	for _, name := range []string{"held", "unclaimed"} {
		if owner, _ := r.door.holder(name); owner != "" {
			t.Errorf("%s is still %s's", name, owner)
		}
	}

	calls := map[string]error{"unlock": held.Unlock(ctx)}
	_, calls["lock"] = r.acquire(ctx, "new").Await(ctx)
	_, calls["lock a known name"] = r.acquire(ctx, "held").Await(ctx)
	_, calls["try"] = r.acquire(ctx, "new", asTry).Await(ctx)
	_, calls["timed"] = r.acquire(ctx, "new", waitAtMost(time.Minute)).Await(ctx)
	_, calls["async"] = r.acquire(ctx, "new", watched).Granted().Get(ctx)
	_, calls["force"] = r.ForceUnlock(r.kind, "new").Get(ctx)
	_, calls["inspect"] = r.Inspect(r.kind, "new").Get(ctx)
	for what, err := range calls {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", what, err)
		}
	}
	if err := held.Extend(ctx, time.Minute); !errors.Is(err, ErrClosed) && !errors.Is(err, ErrNotHeld) {
		t.Errorf("extend after Close: %v", err)
	}
	if err := r.Close(ctx); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	r.wantEmpty()
	if n := r.door.times("renew"); n != 0 {
		t.Errorf("%d renewals", n)
	}
}

// Close in the middle of everything: each call is answered, with a hold or with
// ErrClosed, and nothing is left.
func TestCloseUnderLoad(t *testing.T) {
	r := newRig(t)
	r.door.carry = scattered
	const callers, names = 32, 16
	var (
		wg       sync.WaitGroup
		served   atomic.Int64
		answered atomic.Int64
	)
	for i := range callers {
		wg.Go(func() {
			for n := 0; ; n++ {
				h, err := r.acquire(context.Background(), fmt.Sprint("lock-", (i+n)%names), watched).Granted().Get(context.Background())
				if err == nil {
					served.Add(1)
					err = h.Unlock(context.Background())
				}
				switch {
				case errors.Is(err, ErrClosed):
					answered.Add(1)
					return
				case errors.Is(err, ErrNotHeld): // Close gave it back first
				case err != nil:
					t.Errorf("neither served nor closed: %v", err)
					return
				}
			}
		})
	}
	r.eventually("some are served", func() bool { return served.Load() > 500 })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		t.Error(err)
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(patience):
		t.Fatalf("%d of %d callers were never answered", callers-answered.Load(), callers)
	}
	r.wantEmpty()
	for n := range names {
		if owner, _ := r.door.holder(fmt.Sprint("lock-", n)); owner != "" {
			t.Errorf("lock-%d is still %s's", n, owner)
		}
	}
	if total, _ := r.pool.live(); total != 0 {
		t.Errorf("%d actors outlive Close", total)
	}
}

// When Redis does not answer, Close gives up with its ctx and says so; the books
// balance once the late answers are in.
func TestCloseWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		var mu sync.Mutex
		var late []func()
		h := r.take("held")
		r.door.change(func(d *fakeDoor) {
			d.carry = func(_ string, run func()) { mu.Lock(); late = append(late, run); mu.Unlock() }
		})
		asked := r.acquire(t.Context(), "asked")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close says %v", err)
		}
		if _, err, ok := asked.Granted().TryGet(); !ok || !errors.Is(err, ErrClosed) {
			t.Errorf("the request in flight: %v, done %v", err, ok)
		}
		wantCause(t, h, ErrClosed)
		for len(late) > 0 { // what they set off is answered too
			mu.Lock()
			runs := late
			late = nil
			mu.Unlock()
			for _, run := range runs {
				run()
			}
			pass(10 * time.Second)
		}
		r.wantEmpty()
		if total, _ := r.pool.live(); total != 0 {
			t.Errorf("%d actors outlive Close", total)
		}
	})
}

// Limits refuse at once, and what they refuse is not counted.
func TestLimits(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxWaiters, c.MaxPending = 3, 5 })
	h := r.take("lock")
	var waiters []*Hold
	for range 3 {
		waiters = append(waiters, r.acquire(t.Context(), "lock"))
	}
	var over *OverloadError
	if _, err := r.acquire(t.Context(), "lock").Await(t.Context()); !errors.As(err, &over) || over.Limit != 3 || !errors.Is(err, ErrOverloaded) {
		t.Errorf("a fourth waiter: %v", err)
	}
	other := r.take("other")
	waiters = append(waiters, r.acquire(t.Context(), "other"), r.acquire(t.Context(), "other"))
	if _, err := r.acquire(t.Context(), "third").Await(t.Context()); !errors.As(err, &over) || over.Limit != 5 {
		t.Errorf("a sixth pending call: %v", err)
	}
	r.unlock(h)
	r.unlock(other)
	for _, w := range waiters {
		got, err := w.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r.unlock(got)
	}
	r.wantEmpty()
}
