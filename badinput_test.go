package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// What a caller can get wrong is answered before anything is sent (design
// section 5 and 7; reliability section 6).

func TestBadNames(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 3*time.Second)
	s.MustDo("CONFIG", "RESETSTAT")
	names := map[string]string{
		"empty":         "",
		"too long":      strings.Repeat("x", 1025),
		"much too long": strings.Repeat("x", 1<<20),
		"channel":       "redisson_lock__channel:{x}",
		"latch":         "redisson_unlock_latch:{x}:1",
		"queue":         "redisson_lock_queue:{x}",
		"timeout":       "redisson_lock_timeout:{x}",
		"token":         "redisson_lock_token:{x}",
		"read-write":    "redisson_rwlock:{x}",
	}
	for what, name := range names {
		l := rt.Lock(name)
		for call, err := range map[string]error{
			"Lock":             second(l.Lock(soon(t))),
			"TryLock":          second(l.TryLock(soon(t))),
			"LockAsync":        second(l.LockAsync(soon(t)).Get(soon(t))),
			"TryLockAsync":     second(l.TryLockAsync(soon(t)).Get(soon(t))),
			"Do":               l.Do(soon(t), func(context.Context) error { t.Error("ran"); return nil }),
			"ForceUnlock":      second(l.ForceUnlock(soon(t))),
			"ForceUnlockAsync": second(l.ForceUnlockAsync().Get(soon(t))),
			"Inspect":          second(l.Inspect(soon(t))),
			"IsLocked":         second(l.IsLocked(soon(t))),
			"RemainingTTL":     second(l.RemainingTTL(soon(t))),
		} {
			if !errors.Is(err, holdfast.ErrInvalidName) {
				t.Errorf("%s name, %s: %v", what, call, err)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("%s name: an error of %d bytes", what, len(err.Error()))
			}
		}
	}
	if r.ran("evalsha") || r.ran("eval") {
		t.Error("something was sent")
	}
	mustUnlock(t, mustLock(t, rt.Lock(strings.Repeat("x", 1024)))) // the longest

	mapped := newRuntime(t, s, 3*time.Second, holdfast.WithNameMapper(func(string) string { return "" }))
	mustBe(t, second(mapped.Lock("fine").TryLock(soon(t))), holdfast.ErrInvalidName)
}

// second is the error of a call with a result.
func second[T any](_ T, err error) error { return err }

func TestBadLeases(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 3*time.Second)
	const most = (1 << 40) * time.Millisecond
	s.MustDo("CONFIG", "RESETSTAT")
	for _, d := range []time.Duration{0, -5, -time.Hour, 1, 1500 * time.Microsecond, 9900 * time.Microsecond,
		10*time.Millisecond - 1, most + 1, math.MaxInt64, math.MinInt64} {
		l := rt.Lock("n")
		for call, err := range map[string]error{
			"Lock":      second(l.Lock(soon(t), holdfast.LeaseFor(d))),
			"TryLock":   second(l.TryLock(soon(t), holdfast.LeaseFor(d))),
			"LockAsync": second(l.LockAsync(soon(t), holdfast.LeaseFor(d)).Get(soon(t))),
			"Do":        l.Do(soon(t), func(context.Context) error { t.Error("ran"); return nil }, holdfast.LeaseFor(d)),
		} {
			if !errors.Is(err, holdfast.ErrInvalidLease) {
				t.Errorf("%s with a lease of %v: %v", call, d, err)
			}
		}
	}
	if r.ran("evalsha") || r.ran("eval") {
		t.Error("something was sent")
	}
	for _, d := range []time.Duration{10500 * time.Microsecond, 20*time.Second + 1, most} {
		name := "lease " + d.String()
		h := mustLock(t, rt.Lock(name), holdfast.LeaseFor(d))
		if d > time.Second {
			r.mustHold(name, h.Owner(), "1", d.Truncate(time.Millisecond)+time.Millisecond)
		}
	}
	// The shortest is a lease like any other: it is granted, and ends. A slow
	// machine may find it over before the reply is there, which is no grant.
	h, err := rt.Lock("ten").TryLock(soon(t), holdfast.LeaseFor(10*time.Millisecond))
	if err != nil {
		mustBe(t, err, holdfast.ErrUnavailable)
	} else {
		mustEnd(t, h.Context(), holdfast.ErrLost)
	}
	eventually(t, "the short leases end", func() bool { return !r.exists("ten") && !r.exists("lease 10.5ms") })
}

func TestBadOwners(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt, other := newRuntime(t, s, 3*time.Second), newRuntime(t, s, 3*time.Second)
	foreign := other.NewOwner()
	_, err := rt.Lock("n").Lock(soon(t), holdfast.As(foreign))
	if err == nil || !errors.Is(err, holdfast.ErrInvalidOwner) {
		t.Fatalf("As(owner of another runtime): %v", err)
	}
	_, err = rt.Lock("n").LockAsync(soon(t), holdfast.As(foreign)).Get(soon(t))
	mustBe(t, err, holdfast.ErrInvalidOwner)
	if r.exists("n") {
		t.Error("key made")
	}
	// A ctx travels far: there another runtime's owner just does not count.
	h, err := rt.Lock("n").Lock(holdfast.ContextWithOwner(soon(t), foreign))
	if err != nil || h.Owner() == foreign || h.Owner().Runtime() != rt.ID() {
		t.Fatalf("Lock: %v", err)
	}
	zero := mustLock(t, rt.Lock("m"), holdfast.As(holdfast.Owner{})) // nobody: a fresh owner
	if zero.Owner().IsZero() {
		t.Error("held by nobody")
	}
}

func TestParseOwner(t *testing.T) {
	const id = "0e7b3a52-6f5c-4a1d-9b7e-3c2d1a0f9e8d"
	for _, s := range []string{"", ":", id, id + ":", ":7", id + ":x", id + ":1.5", id + ":7:8", "not-a-uuid:7",
		id[:35] + ":7", id + "0:7", "{" + id[1:35] + "}:7", id + ":99999999999999999999", "mode", id + ":7:write", id + ":7\n"} {
		if o, err := holdfast.ParseOwner(s); err == nil || !o.IsZero() {
			t.Errorf("ParseOwner(%q) is %v, %v", s, o, err)
		}
	}
	for _, s := range []string{id + ":7", id + ":0", id + ":-1", id + ":9223372036854775807"} {
		o, err := holdfast.ParseOwner(s)
		if err != nil || o.String() != s || o.Runtime() != id || o.IsZero() {
			t.Errorf("ParseOwner(%q) is %v, %v", s, o, err)
		}
		if again, _ := holdfast.ParseOwner(s); again != o {
			t.Errorf("two of %q are not equal", s)
		}
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, d := range []time.Duration{0, -1, time.Millisecond, 59 * time.Millisecond, (1<<40)*time.Millisecond + 1, math.MaxInt64} {
		rt, err := holdfast.New(clientOption(s.Addr()), holdfast.WithWatchdogTimeout(d))
		if rt != nil || !errors.Is(err, holdfast.ErrInvalidLease) {
			t.Errorf("WithWatchdogTimeout(%v): %v %v", d, rt, err)
		}
	}
	for name, o := range map[string]holdfast.Option{
		"no waiters":        holdfast.WithMaxWaiters(0),
		"negative waiters":  holdfast.WithMaxWaiters(-1),
		"nothing pending":   holdfast.WithMaxPending(0),
		"negative, pending": holdfast.WithMaxPending(math.MinInt),
	} {
		if rt, err := holdfast.New(clientOption(s.Addr()), o); rt != nil || err == nil {
			t.Errorf("%s: %v %v", name, rt, err)
		}
	}
	rt, err := holdfast.New(clientOption(s.Addr()), nil, holdfast.WithWatchdogTimeout(60*time.Millisecond), holdfast.WithLogger(nil))
	if err != nil {
		t.Fatalf("the shortest watchdog timeout, a nil option and a nil logger: %v", err)
	}
	defer rt.Close(context.Background())
	h, err := rt.Lock("n").Lock(soon(t), nil, holdfast.LeaseFor(time.Minute), nil)
	if err != nil {
		t.Fatalf("nil lock options: %v", err)
	}
	mustUnlock(t, h)
}

func TestBadServers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--requirepass", "secret")
	closed := func() string { // a port that nobody listens on
		k := redistest.Start(t)
		k.Kill()
		return k.Addr()
	}()
	for name, c := range map[string]struct {
		option      rueidis.ClientOption
		unavailable bool
		text        string
	}{
		"nobody there":   {clientOption(closed), true, "refused"},
		"no address":     {rueidis.ClientOption{}, false, ""},
		"no password":    {clientOption(s.Addr()), false, "NOAUTH"},
		"wrong password": {rueidis.ClientOption{InitAddress: []string{s.Addr()}, ForceSingleClient: true, Password: "guess"}, false, "WRONGPASS"},
	} {
		rt, err := holdfast.New(c.option)
		if rt != nil || err == nil || !strings.Contains(err.Error(), c.text) || c.unavailable && !errors.Is(err, holdfast.ErrUnavailable) {
			t.Errorf("%s: %v, %v", name, rt, err)
		}
	}
	for _, url := range []string{"", "redis", "http://127.0.0.1:6379", "redis://127.0.0.1:port", "redis://127.0.0.1:6379/notadb", "::"} {
		rt, err := holdfast.Open(url)
		if rt != nil || err == nil {
			t.Errorf("Open(%q): %v, %v", url, rt, err)
		}
	}
	rt, err := holdfast.Open(fmt.Sprintf("redis://:secret@%s/3", s.Addr()))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer rt.Close(context.Background())
	mustUnlock(t, mustLock(t, rt.Lock("n")))
}
