package rediscmd

import (
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// Mutex is the door to the scripts of the plain lock, Redisson's RLock. Its
// methods fill in op, submit it and return at once; done is called with op when
// there is a reply or none can come (see Completer). They are safe for concurrent
// use with different ops. Names are not validated here: see ValidateName.
//
// An owner without a runtime is an *ArgError. Leases are rounded up to whole
// milliseconds; below 1 ms or above MaxLease the op fails with an *ArgError.
type Mutex struct{ c *Client }

// MaxLease is the longest lease, 2^40 ms (about 34 years): far below what makes
// PEXPIRE overflow, which Redis refuses only after the lock was taken.
const MaxLease = (1 << 40) * time.Millisecond

// Channel returns the pub/sub channel on which the end of a lock is published.
func (Mutex) Channel(name string) string { return lockChannel(name) }

// AcquireArgs says who wants a lock, for how long, and at which hold count.
type AcquireArgs struct {
	Name  string
	Owner Owner
	Lease time.Duration
	// Level is the hold count after the grant: 1 for a first acquisition. Above 1
	// the lock is granted only to an owner that has it, whatever its count.
	Level int64
	// WantHolder asks for the holder's field and count on refusal.
	WantHolder bool
}

// Acquire takes a lock: Granted, Held (with TTL, and Owner and Count if wanted), or
// Absent when Level is above 1 and there is no key. It sets the count instead of
// adding to it, so sending it again settles a lost reply.
func (d Mutex) Acquire(op *Op, done Completer, a AcquireArgs) {
	op.prepare(acquireScript, a.Name)
	op.lease(a.Lease)
	op.by(a.Owner)
	op.level(a.Level, 1)
	op.terms.holder = a.WantHolder
	d.c.submit(op, done)
}

var acquireScript = newScript(script{name: "acquire", many: true, args: func(c *Client, op *Op, args []string) []string {
	t := &op.terms
	return append(args, c.leases.format(t.lease), strconv.FormatInt(t.level, 10), flag(t.holder))
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	if m.IsNil() {
		op.Reply.Verdict = Granted
		return nil
	}
	ttl := m
	if m.IsArray() {
		list, err := fields(m, 3)
		if err != nil {
			return err
		}
		if op.Reply.Owner, err = list[1].ToString(); err != nil {
			return unexpected(m)
		}
		if op.Reply.Count, err = integer(&list[2]); err != nil {
			return err
		}
		ttl = &list[0]
	}
	ms, err := integer(ttl)
	if err != nil {
		return err
	}
	op.Reply.TTL, op.Reply.Verdict = remainingTTL(ms), Held
	if ms == -2 {
		op.Reply.Verdict = Absent
	}
	return nil
}})

// ReleaseArgs says who gives up how much of a lock.
type ReleaseArgs struct {
	Name  string
	Owner Owner
	Level int64         // the hold count that remains; 0 frees the lock
	Lease time.Duration // for what remains; ignored when Level is 0
}

// Release lowers an owner's hold count: Lowered, Released, or Absent when the owner
// does not hold the lock.
func (d Mutex) Release(op *Op, done Completer, a ReleaseArgs) {
	op.prepare(releaseScript, a.Name)
	op.by(a.Owner)
	op.level(a.Level, 0)
	if a.Level > 0 {
		op.lease(a.Lease)
	}
	d.c.submit(op, done)
}

var releaseScript = newScript(script{name: "release", urgent: true, many: true, args: func(c *Client, op *Op, args []string) []string {
	t := &op.terms
	return append(args, strconv.FormatInt(t.level, 10), c.leases.format(t.lease), c.publish)
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	if m.IsNil() {
		op.Reply.Verdict = Absent
		return nil
	}
	return op.freed(m, Lowered)
}})

// freed decodes 1 and 2, and 0 as the verdict given.
func (op *Op) freed(m *rueidis.RedisMessage, zero Verdict) error {
	n, err := integer(m)
	switch {
	case err != nil:
		return err
	case n == 0:
		op.Reply.Verdict = zero
	case n == 1 || n == 2:
		op.Reply.Verdict, op.Reply.Silent = Released, n == 2
	default:
		return unexpected(m)
	}
	return nil
}

// YieldMode says when a hand-off lets other processes have the lock instead.
type YieldMode uint8

const (
	// YieldNever hands over in any case.
	YieldNever YieldMode = iota
	// YieldIfOthersListen frees the lock when the channel has subscribers besides
	// this client's. On a cluster without sharded pub/sub only those of the same
	// node are seen.
	YieldIfOthersListen
	// YieldAlways frees the lock, if From holds it.
	YieldAlways
)

func (y YieldMode) wire() string { return "012"[y : y+1] }

// HandOffArgs says which owner passes a lock to which.
type HandOffArgs struct {
	Name  string
	From  Owner
	To    Owner
	Lease time.Duration // 0 keeps what is left of the present one
	Yield YieldMode
}

// HandOff passes a lock on: HandedOver (also when To has it already), Yielded when it
// was freed instead (with Listeners: how many others), or Absent (with TTL) when neither
// owner holds it. It works on a server out of memory; if it is refused, From keeps the
// lock.
func (d Mutex) HandOff(op *Op, done Completer, a HandOffArgs) {
	op.prepare(handOffScript, a.Name)
	op.by(a.From)
	op.to = op.somebody(a.To)
	if a.Lease != 0 {
		op.lease(a.Lease)
	}
	op.terms.yield = a.Yield
	if a.Yield == YieldIfOthersListen && d.c.subscriber.Confirmed(lockChannel(a.Name)) {
		op.terms.own = true
	}
	d.c.submit(op, done)
}

var handOffScript = newScript(script{name: "handoff", urgent: true, args: func(c *Client, op *Op, args []string) []string {
	t := &op.terms
	var buf [128]byte
	from := op.owner.append(buf[:0])
	both, n := string(op.to.append(from)), len(from)
	return append(args, both[:n], both[n:], c.leases.format(t.lease), t.yield.wire(), flag(t.own), c.publish)
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	list, err := fields(m, 2)
	if err != nil {
		return err
	}
	code, err := integer(&list[0])
	if err != nil {
		return err
	}
	ms, err := integer(&list[1]) // or how many others listen
	if err != nil {
		return err
	}
	switch code {
	case 0:
		op.Reply.Verdict, op.Reply.TTL = Absent, remainingTTL(ms)
	case 1:
		op.Reply.Verdict = HandedOver
	case 2, 3:
		op.Reply.Verdict, op.Reply.Silent, op.Reply.Listeners = Yielded, code == 3, ms
	default:
		return unexpected(m)
	}
	return nil
}})

// Force frees a lock whoever holds it, and deletes a key of any other type under
// that name: Released, or Absent when there was no key.
func (d Mutex) Force(op *Op, done Completer, name string) {
	op.prepare(forceScript, name)
	d.c.submit(op, done)
}

var forceScript = newScript(script{name: "force", urgent: true, args: func(c *Client, _ *Op, args []string) []string {
	return append(args, c.publish)
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	return op.freed(m, Absent)
}})

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
