package holdfast_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// What a server can say instead of yes or no (reliability section 6; row 33 of the
// fault matrix; memory and rights are in limits_test.go and rights_test.go). A fault
// of the key is an error at once, with the server's text; a server in no state to
// serve is waited for while ctx lasts.

// Row 33: a key of another type is refused, never waited for, never changed.
func TestKeyOfAnotherType(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 3*time.Second)
	for name, create := range map[string][]string{
		"string": {"SET", "string", "v"},
		"list":   {"RPUSH", "list", "v"},
		"set":    {"SADD", "set", "v"},
		"zset":   {"ZADD", "zset", "1", "v"},
		"stream": {"XADD", "stream", "*", "f", "v"},
	} {
		s.MustDo(create...)
		before, _ := s.MustDo("DUMP", name).ToString()
		l := rt.Lock(name)
		for call, err := range map[string]error{
			"Lock":      second(l.Lock(soon(t))), // soon is far away: it must not wait
			"TryLock":   second(l.TryLock(soon(t))),
			"LockAsync": second(l.LockAsync(soon(t)).Get(soon(t))),
			"Inspect":   second(l.Inspect(soon(t))),
		} {
			if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%s of a %s: %v", call, name, err)
			}
			mustNotBe(t, err, holdfast.ErrNotAcquired, holdfast.ErrUnavailable, context.DeadlineExceeded)
			if _, ok := errors.AsType[*rueidis.RedisError](err); !ok {
				t.Errorf("%s of a %s: the server's error cannot be asked for: %#v", call, name, err)
			}
		}
		if after, _ := s.MustDo("DUMP", name).ToString(); after != before {
			t.Errorf("the %s was changed", name)
		}
		if ttl := (raw{t, s}).ttl(name); ttl != -time.Millisecond {
			t.Errorf("the %s has a TTL of %v now", name, ttl)
		}
	}
}

// Row 33: a hash with fields that are no owner's. It belongs to somebody: we keep out.
func TestHashThatIsNoLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	rt := newRuntime(t, s, 3*time.Second)
	for name, pair := range map[string][2]string{
		"text count":     {stranger, "abc"},
		"overflow":       {stranger, "99999999999999999999"},
		"negative":       {stranger, "-3"},
		"no owner":       {"name", "1"},
		"read-write":     {"mode", "read"},
		"an empty field": {"", ""},
	} {
		s.MustDo("HSET", name, pair[0], pair[1])
		l := rt.Lock(name)
		_, err := l.TryLock(soon(t))
		if err == nil {
			t.Fatalf("%s: got in", name)
		}
		_, err = l.Lock(soon(t), holdfast.WaitFor(50*time.Millisecond))
		if err == nil {
			t.Fatalf("%s: got in", name)
		}
		if got := r.fields(name); len(got) != 1 || got[pair[0]] != pair[1] {
			t.Errorf("%s: the hash is now %v", name, got)
		}
		if ttl := r.ttl(name); ttl != -time.Millisecond {
			t.Errorf("%s has a TTL of %v now", name, ttl)
		}
		if st, err := l.Inspect(soon(t)); err == nil && (!st.Locked || !st.Foreign) {
			t.Errorf("%s: Inspect says %+v", name, st)
		}
	}
}

// waitsThrough checks what a single attempt and a waiting call do while the server
// answers with code, and that the waiting call gets the lock after mend.
func waitsThrough(t *testing.T, rt *holdfast.Runtime, code string, mend func()) {
	t.Helper()
	l := rt.Lock("waits through")
	_, err := l.TryLock(soon(t))
	mustBe(t, err, holdfast.ErrUnavailable)
	mustNotBe(t, err, holdfast.ErrNotAcquired)
	if !strings.Contains(err.Error(), code) {
		t.Errorf("TryLock: %v, which does not say %s", err, code)
	}
	_, err = l.Lock(within(t, 300*time.Millisecond))
	mustBe(t, err, holdfast.ErrNotAcquired, holdfast.ErrUnavailable, context.DeadlineExceeded)
	if !strings.Contains(err.Error(), code) {
		t.Errorf("Lock: %v, which does not say %s", err, code)
	}
	_, err = l.Lock(soon(t), holdfast.WaitFor(300*time.Millisecond))
	mustBe(t, err, holdfast.ErrNotAcquired, holdfast.ErrUnavailable)
	f := l.LockAsync(soon(t))
	mend()
	mustUnlock(t, mustGet(t, f))
}

func TestReadOnlyReplica(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 3*time.Second)
	s.MustDo("REPLICAOF", "127.0.0.1", "1")
	waitsThrough(t, rt, "READONLY", func() { s.MustDo("REPLICAOF", "NO", "ONE") })
}

func TestTooFewReplicas(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 3*time.Second)
	s.MustDo("CONFIG", "SET", "min-replicas-to-write", "1")
	waitsThrough(t, rt, "NOREPLICAS", func() { s.MustDo("CONFIG", "SET", "min-replicas-to-write", "0") })
}

func TestBusyScript(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--busy-reply-threshold", "20")
	rt := newRuntime(t, s, 3*time.Second)
	c := s.Client(t, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = time.Minute })
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Do(context.Background(), c.B().Eval().Script("while true do end").Numkeys(0).Build())
	}()
	eventually(t, "the server is busy", func() bool {
		err := s.Do("GET", "x").Error()
		return err != nil && strings.Contains(err.Error(), "BUSY")
	})
	waitsThrough(t, rt, "BUSY", func() { s.MustDo("SCRIPT", "KILL") })
	<-done
}

func TestLoading(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
	rt := newRuntime(t, s, 3*time.Second)
	s.MustDo("EVAL", "for i=1,3000 do redis.call('set','k'..i,string.rep('v',64)) end", "0")
	c := s.Client(t, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = time.Minute })
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Do(context.Background(), c.B().Arbitrary("DEBUG", "RELOAD").Build())
	}()
	eventually(t, "the server is loading", func() bool {
		err := s.Do("GET", "x").Error()
		return err != nil && strings.Contains(err.Error(), "LOADING")
	})
	waitsThrough(t, rt, "LOADING", func() {})
	<-done
}

// A server that is away is waited for, and found again on the same address.
func TestServerAway(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	rt := newRuntime(t, s, 3*time.Second)
	s.Kill()
	waitsThrough(t, rt, "", s.Restart) // the text is the network's: refused, EOF, reset
}
