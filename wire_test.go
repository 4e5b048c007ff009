package holdfast_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// What a Java service on Redisson sees: S15, design section 5 and 7.

var ownerForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[0-9]+$`)

// S15: one hash field uuid:number with count 1, and a TTL of at most the watchdog timeout.
func TestWireOfAHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 3 * time.Second
	rt := newRuntime(t, s, lease)
	for _, name := range []string{"order:42", "br{ac}es", "{x}", "sp ace\n\x00", "\xff\xfe", "a}b{"} {
		h := mustLock(t, rt.Lock(name))
		if f := h.Owner().String(); !ownerForm.MatchString(f) || h.Owner().Runtime() != rt.ID() {
			t.Errorf("owner %q is not uuid:number of runtime %s", f, rt.ID())
		}
		r.mustHold(name, h.Owner(), "1", lease)
		if h.Count() != 1 || h.Name() != name {
			t.Errorf("hold is %d of %q", h.Count(), h.Name())
		}
		mustUnlock(t, h)
		if r.exists(name) {
			t.Errorf("%q: key left after the unlock", name)
		}
	}
	if n := r.number("DBSIZE"); n != 0 {
		t.Errorf("%d keys left (design 7: nothing is left in Redis but keys with a TTL, and none is held)", n)
	}
}

// Every acquisition has a number of its own (design section 5, "who is the owner").
func TestWireOwnersAreFresh(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 3*time.Second)
	seen := map[holdfast.Owner]bool{}
	for range 20 {
		h := mustLock(t, rt.Lock("n"))
		if seen[h.Owner()] {
			t.Fatalf("owner %s twice", h.Owner())
		}
		seen[h.Owner()] = true
		mustUnlock(t, h)
		if o := rt.NewOwner(); seen[o] {
			t.Fatalf("NewOwner %s is not new", o)
		}
	}
}

// S5: re-entering by any of the three ways makes 2, and each Unlock takes one off.
func TestWireReentry(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 3 * time.Second
	rt := newRuntime(t, s, lease)
	enter := map[string]func(l *holdfast.Lock, h *holdfast.Hold) (*holdfast.Hold, error){
		"hold.Context()": func(l *holdfast.Lock, h *holdfast.Hold) (*holdfast.Hold, error) {
			return l.Lock(h.Context())
		},
		"As": func(l *holdfast.Lock, h *holdfast.Hold) (*holdfast.Hold, error) {
			return l.TryLock(soon(t), holdfast.As(h.Owner()))
		},
		"ContextWithOwner": func(l *holdfast.Lock, h *holdfast.Hold) (*holdfast.Hold, error) {
			return l.LockAsync(holdfast.ContextWithOwner(soon(t), h.Owner())).Get(soon(t))
		},
	}
	for way, again := range enter {
		t.Run(way, func(t *testing.T) {
			l := rt.Lock("re:" + way)
			first := mustLock(t, l)
			second, err := again(l, first)
			if err != nil {
				t.Fatal(err)
			}
			if second.Count() != 2 || second.Owner() != first.Owner() || first.Count() != 1 {
				t.Fatalf("second level is %d of %s, first %d of %s", second.Count(), second.Owner(), first.Count(), first.Owner())
			}
			r.mustHold(l.Name(), first.Owner(), "2", lease)
			mustUnlock(t, first) // not in the order of nesting: a level is a level
			r.mustHold(l.Name(), second.Owner(), "1", lease)
			if second.Context().Err() != nil {
				t.Fatal("the other level's unlock ended this one")
			}
			mustUnlock(t, second)
			if r.exists(l.Name()) {
				t.Fatal("key left after the last unlock")
			}
		})
	}
}

// Design section 5: a child goroutine with ContextWithoutOwner is excluded, and so is every other owner.
func TestWireOthersAreExcluded(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	const lease = 3 * time.Second
	rt, other := newRuntime(t, s, lease), newRuntime(t, s, lease)
	h := mustLock(t, rt.Lock("n"))
	tries := map[string]func() (*holdfast.Hold, error){
		"ContextWithoutOwner": func() (*holdfast.Hold, error) {
			return rt.Lock("n").TryLock(holdfast.ContextWithoutOwner(h.Context()))
		},
		"a fresh owner": func() (*holdfast.Hold, error) { return rt.Lock("n").TryLock(soon(t)) },
		"another owner": func() (*holdfast.Hold, error) {
			return rt.Lock("n").TryLock(h.Context(), holdfast.As(rt.NewOwner()))
		},
		"another runtime with the hold's ctx": func() (*holdfast.Hold, error) { return other.Lock("n").TryLock(h.Context()) },
	}
	for who, try := range tries {
		got, err := try()
		if got != nil {
			t.Fatalf("%s got in", who)
		}
		mustBe(t, err, holdfast.ErrNotAcquired)
		held, ok := errors.AsType[*holdfast.HeldError](err)
		if !ok || held.Owner != h.Owner() || held.TTL <= 0 || held.TTL > lease {
			t.Fatalf("%s: %#v, want owner %s and its TTL", who, err, h.Owner())
		}
	}
	r.mustHold("n", h.Owner(), "1", lease)
}

// S15: a full unlock publishes exactly "0" on Redisson's channel, once; a partial one publishes nothing.
func TestWireUnlockMessage(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 3*time.Second)
	for _, name := range []string{"plain", "br{ac}es", "{all}", "sp ace"} {
		ear := listen(t, s, channel(name))
		l := rt.Lock(name)
		first := mustLock(t, l)
		second := mustLock(t, l, holdfast.As(first.Owner()))
		mustUnlock(t, second)
		s.MustDo("PUBLISH", channel(name), "after the partial unlock")
		mustUnlock(t, first)
		s.MustDo("PUBLISH", channel(name), "after the full unlock")
		if ok, err := l.ForceUnlock(soon(t)); ok || err != nil {
			t.Fatalf("ForceUnlock of a free lock: %v %v", ok, err)
		}
		h := mustLock(t, l)
		if ok, err := l.ForceUnlock(soon(t)); !ok || err != nil {
			t.Fatalf("ForceUnlock: %v %v", ok, err)
		}
		mustEnd(t, h.Context(), holdfast.ErrLost)
		s.MustDo("PUBLISH", channel(name), "end")
		want := []string{"after the partial unlock", "0", "after the full unlock", "0", "end"}
		if got := ear.until("end"); !slices.Equal(got, want) {
			t.Errorf("%q: channel carried %q, want %q", name, got, want)
		}
		if r.exists(name) {
			t.Errorf("%q left", name)
		}
	}
}

// ear is a raw subscriber.
type ear struct {
	t    *testing.T
	mu   sync.Mutex
	msgs []string
}

func listen(t *testing.T, s *redistest.Server, ch string) *ear {
	t.Helper()
	c := s.Client(t)
	e := &ear{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Receive(ctx, c.B().Subscribe().Channel(ch).Build(), func(m subMessage) {
			e.mu.Lock()
			e.msgs = append(e.msgs, m.Message)
			e.mu.Unlock()
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	eventually(t, "raw subscription", func() bool {
		list, err := s.MustDo("PUBSUB", "NUMSUB", ch).ToArray()
		if err != nil {
			return false
		}
		n, _ := list[1].AsInt64()
		return n == 1
	})
	return e
}

// until returns what was heard when last has arrived.
func (e *ear) until(last string) []string {
	e.t.Helper()
	var got []string
	eventually(e.t, "message "+last, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		got = slices.Clone(e.msgs)
		return slices.Contains(got, last)
	})
	return got
}
