package holdfast_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Fault matrix row 27: the user may not touch this key. The server's word is final.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.MustDo("ACL", "SETUSER", "svc", "on", ">pw", "~lock:*", "~redisson_*", "&redisson_*", "+@all")
	o := clientOption(s.Addr())
	o.Username, o.Password = "svc", "pw"
	rt, err := holdfast.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close(context.Background())
	for call, err := range map[string]error{
		"Lock":    second(rt.Lock("other:1").Lock(soon(t))),
		"TryLock": second(rt.Lock("other:1").TryLock(soon(t))),
		"Inspect": second(rt.Lock("other:1").Inspect(soon(t))),
	} {
		if err == nil || !strings.Contains(err.Error(), "NOPERM") {
			t.Errorf("%s: %v", call, err)
		}
		mustNotBe(t, err, holdfast.ErrNotAcquired, holdfast.ErrUnavailable, context.DeadlineExceeded)
	}
	mustUnlock(t, mustLock(t, rt.Lock("lock:1")))

	// Rights taken away while held: the hold ends at its deadline, no sooner and no
	// later, since a renewal that is refused proves nothing about the key.
	lost := &losses{}
	const lease = 1500 * time.Millisecond
	short, err := holdfast.New(o, holdfast.WithWatchdogTimeout(lease), holdfast.WithOnLost(lost.add))
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close(context.Background())
	h := mustLock(t, short.Lock("lock:2"))
	s.MustDo("ACL", "SETUSER", "svc", "resetkeys", "~lock:1")
	mustEnd(t, h.Context(), holdfast.ErrLost)
	eventually(t, "OnLost", func() bool { return len(lost.list()) == 1 })
	if i := lost.list()[0]; i.Err == nil || !strings.Contains(i.Err.Error(), "NOPERM") {
		t.Errorf("OnLost was told %+v, which does not name the reason", i)
	}
}

// The least that a user needs (reliability section 6), as the docs tell operators.
func TestLeastPrivilege(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := raw{t, s}
	s.MustDo(append([]string{"ACL", "SETUSER", "svc", "on", ">pw", "resetchannels", "~lock:*", "~redisson_*", "&redisson_*", "-@all"},
		strings.Fields(leastRights)...)...)
	o := clientOption(s.Addr())
	o.Username, o.Password = "svc", "pw"
	const lease = 1800 * time.Millisecond
	rt, err := holdfast.New(o, holdfast.WithWatchdogTimeout(lease))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close(context.Background())
	l := rt.Lock("lock:1")
	h := mustLock(t, l)
	inner := mustLock(t, l, holdfast.As(h.Owner()))
	f := l.LockAsync(soon(t))
	waitBehind(t, r, l, 1)
	time.Sleep(lease + lease/4)
	mustUnlock(t, inner)
	if err := h.Extend(soon(t), 2*lease); err != nil {
		t.Fatalf("Extend: %v", err)
	}
	mustUnlock(t, h)
	mustUnlock(t, mustGet(t, f))
	mustLock(t, l)
	if ok, err := l.ForceUnlock(soon(t)); !ok || err != nil {
		t.Fatalf("ForceUnlock: %v %v", ok, err)
	}
	denied, err := s.MustDo("ACL", "LOG").ToArray()
	if err != nil || len(denied) != 0 {
		for _, d := range denied {
			m, _ := d.AsStrMap()
			t.Error(fmt.Sprint(m["context"], " ", m["object"], " ", m["reason"]))
		}
	}
}

const leastRights = "+hello +auth +ping +client|setname +evalsha +eval +script|load +subscribe +unsubscribe " +
	"+exists +hexists +hget +hset +hdel +hscan +pexpire +pttl +del +publish +pubsub|numsub"
