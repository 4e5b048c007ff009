package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// patience is how long a test waits for something that has to happen. It is no
// bound of the library: a test that waits so long has failed.
const patience = 20 * time.Second

// newRuntime starts a runtime on s with a lease of watchdog, closed at the end.
func newRuntime(t *testing.T, s *redistest.Server, watchdog time.Duration, opts ...holdfast.Option) *holdfast.Runtime {
	t.Helper()
	return newRuntimeAt(t, s.Addr(), watchdog, opts...)
}

// newRuntimeAt is newRuntime for an address, a proxy's say.
func newRuntimeAt(t *testing.T, addr string, watchdog time.Duration, opts ...holdfast.Option) *holdfast.Runtime {
	t.Helper()
	rt, err := holdfast.New(clientOption(addr), append([]holdfast.Option{holdfast.WithWatchdogTimeout(watchdog)}, opts...)...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	closeAtEnd(t, rt)
	return rt
}

// closeAtEnd closes rt before its server goes. close_test.go looks at what Close says.
func closeAtEnd(t *testing.T, rt *holdfast.Runtime) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = rt.Close(ctx)
	})
}

func clientOption(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true}
}

// soon is a ctx for calls that have to return.
func soon(t *testing.T) context.Context { return within(t, patience) }

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func mustLock(t *testing.T, l *holdfast.Lock, opts ...holdfast.LockOption) *holdfast.Hold {
	t.Helper()
	h, err := l.Lock(soon(t), opts...)
	if err != nil {
		t.Fatalf("Lock(%q): %v", l.Name(), err)
	}
	return h
}

func mustUnlock(t *testing.T, h *holdfast.Hold) {
	t.Helper()
	if err := h.Unlock(soon(t)); err != nil {
		t.Fatalf("Unlock(%q): %v", h.Name(), err)
	}
}

// mustGet takes the value out of a future that has to be there soon.
func mustGet[T any](t *testing.T, f *future.Future[T]) T {
	t.Helper()
	v, err := f.Get(soon(t))
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return v
}

// mustBe fails unless err matches every target.
func mustBe(t *testing.T, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("error is %v, want one that matches %v", err, target)
		}
	}
}

// mustNotBe fails if err matches any target.
func mustNotBe(t *testing.T, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if errors.Is(err, target) {
			t.Fatalf("error is %v, which must not match %v", err, target)
		}
	}
}

// mustEnd waits for ctx to end and checks why it did.
func mustEnd(t *testing.T, ctx context.Context, cause error) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Fatalf("context did not end with %v", cause)
	}
	if got := context.Cause(ctx); got != cause {
		t.Fatalf("context ended with %v, want %v", got, cause)
	}
}

// eventually polls until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	until(t, patience, what, cond)
}

// until is eventually for things that have to happen within d.
func until(t *testing.T, d time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(d); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// raw looks at Redis from outside, as redis-cli would.
type raw struct {
	t *testing.T
	*redistest.Server
}

func (r raw) fields(name string) map[string]string {
	r.t.Helper()
	m, err := r.MustDo("HGETALL", name).AsStrMap()
	if err != nil {
		r.t.Fatalf("HGETALL %q: %v", name, err)
	}
	return m
}

func (r raw) number(args ...string) int64 {
	r.t.Helper()
	n, err := r.MustDo(args...).AsInt64()
	if err != nil {
		r.t.Fatalf("%v: %v", args, err)
	}
	return n
}

func (r raw) exists(name string) bool { r.t.Helper(); return r.number("EXISTS", name) == 1 }

// ttl is what PTTL says, -2 ms for no key and -1 ms for no TTL.
func (r raw) ttl(name string) time.Duration {
	r.t.Helper()
	return time.Duration(r.number("PTTL", name)) * time.Millisecond
}

// mustHold checks that exactly this owner has the name, count times, with a TTL of at most lease.
func (r raw) mustHold(name string, owner holdfast.Owner, count string, lease time.Duration) {
	r.t.Helper()
	got := r.fields(name)
	if len(got) != 1 || got[owner.String()] != count {
		r.t.Fatalf("HGETALL %q is %v, want only %s:%s", name, got, owner, count)
	}
	if ttl := r.ttl(name); ttl <= 0 || ttl > lease {
		r.t.Fatalf("PTTL %q is %v, want within (0, %v]", name, ttl, lease)
	}
}

// foreign takes the name as a Redisson client would, with a lease of its own.
func (r raw) foreign(name, field, count string, lease string) {
	r.t.Helper()
	r.MustDo("EVAL", "redis.call('del',KEYS[1]) redis.call('hset',KEYS[1],ARGV[1],ARGV[2]) redis.call('pexpire',KEYS[1],ARGV[3])",
		"1", name, field, count, lease)
}

// free does what Redisson's unlock does, in one go.
func (r raw) free(name string) {
	r.t.Helper()
	r.MustDo("EVAL", "redis.call('del',KEYS[1]) redis.call('publish',ARGV[1],'0')", "1", name, channel(name))
}

func (r raw) listeners(name string) int64 {
	r.t.Helper()
	list, err := r.MustDo("PUBSUB", "NUMSUB", channel(name)).ToArray()
	if err != nil || len(list) != 2 {
		r.t.Fatalf("NUMSUB: %v %v", list, err)
	}
	n, _ := list[1].AsInt64()
	return n
}

// ran reports whether the server ran a command since the last CONFIG RESETSTAT.
func (r raw) ran(command string) bool {
	r.t.Helper()
	text, err := r.MustDo("INFO", "commandstats").ToString()
	if err != nil {
		r.t.Fatalf("INFO: %v", err)
	}
	return strings.Contains(text, "cmdstat_"+command+":")
}

// channel is Redisson's name for a lock's channel, written down here anew.
func channel(name string) string {
	if strings.Contains(name, "{") {
		return "redisson_lock__channel:" + name
	}
	return "redisson_lock__channel:{" + name + "}"
}

const stranger = "0e7b3a52-6f5c-4a1d-9b7e-3c2d1a0f9e8d:7" // some thread of some Java service

// waitBehind returns when a waiter of l's runtime has found the lock taken and listens.
func waitBehind(t *testing.T, r raw, l *holdfast.Lock, waiters int) {
	t.Helper()
	eventually(t, "waiters listen", func() bool {
		st, err := l.Inspect(soon(t))
		return err == nil && st.LocalWaiters == waiters && r.listeners(l.Name()) > 0
	})
}

// losses collects what WithOnLost is told.
type losses struct {
	mu  sync.Mutex
	all []holdfast.LostInfo
}

func (l *losses) add(i holdfast.LostInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, i)
}

func (l *losses) list() []holdfast.LostInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]holdfast.LostInfo(nil), l.all...)
}
