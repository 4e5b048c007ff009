package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Fault matrix row 22: out of memory. An acquire is an error at once; what is held is renewed,
// re-counted, handed on and unlocked all the same.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 1800 * time.Millisecond
	rt := newRuntime(t, s, lease)
	l := rt.Lock("n")
	h := mustLock(t, l)
	inner := mustLock(t, l, holdfast.As(h.Owner()))
	next := l.LockAsync(soon(t))
	waitBehind(t, r, l, 1)
	s.MustDo("CONFIG", "SET", "maxmemory", "1")
	for call, err := range map[string]error{
		"Lock":    second(rt.Lock("other").Lock(soon(t))),
		"TryLock": second(rt.Lock("other").TryLock(soon(t))),
	} {
		mustBe(t, err, holdfast.ErrUnavailable)
		mustNotBe(t, err, context.DeadlineExceeded)
		if !strings.Contains(err.Error(), "OOM") {
			t.Errorf("%s: %v, which does not say OOM", call, err)
		}
	}
	if r.exists("other") {
		t.Error("key made")
	}
	time.Sleep(2 * lease)
	if h.Context().Err() != nil {
		t.Fatalf("not renewed: %v", context.Cause(h.Context()))
	}
	r.mustHold("n", h.Owner(), "2", lease)
	mustUnlock(t, inner)
	r.mustHold("n", h.Owner(), "1", lease)
	if err := h.Extend(soon(t), time.Minute); err != nil {
		t.Errorf("Extend: %v", err)
	}
	mustUnlock(t, h)
	n := mustGet(t, next)
	r.mustHold("n", n.Owner(), "1", lease)
	mustUnlock(t, n)
	if r.exists("n") {
		t.Error("key left")
	}
	s.MustDo("CONFIG", "SET", "maxmemory", "0")
	mustUnlock(t, mustLock(t, rt.Lock("other")))
}

// The limits turn a call away at once, and let the next in when there is room.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	for name, c := range map[string]struct {
		option holdfast.Option
		other  string // the name that the call too many asks for
	}{
		"waiters of one name":  {holdfast.WithMaxWaiters(2), "n:waiters of one name"},
		"pending of all names": {holdfast.WithMaxPending(2), "elsewhere"},
	} {
		rt := newRuntime(t, s, 5*time.Second, c.option)
		l := rt.Lock("n:" + name)
		h := mustLock(t, l)
		one, two := l.LockAsync(soon(t)), l.LockAsync(soon(t))
		eventually(t, "both wait", func() bool {
			st, err := l.Inspect(soon(t))
			return err == nil && st.LocalWaiters == 2
		})
		_, err := rt.Lock(c.other).Lock(soon(t))
		over, ok := errors.AsType[*holdfast.OverloadError](err)
		if !ok || over.Limit != 2 || !errors.Is(err, holdfast.ErrOverloaded) {
			t.Fatalf("%s: %#v", name, err)
		}
		mustNotBe(t, err, holdfast.ErrNotAcquired, holdfast.ErrUnavailable)
		if c.other != l.Name() && r.exists(c.other) {
			t.Error("sent all the same")
		}
		two.Cancel(nil)
		third := rt.Lock(c.other).LockAsync(soon(t)) // there is room again
		mustUnlock(t, h)
		mustUnlock(t, mustGet(t, one))
		mustUnlock(t, mustGet(t, third))
	}
}
