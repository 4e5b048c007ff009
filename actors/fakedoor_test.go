package actors

import (
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// fakeDoor is a lock kind's scripts without a server: a map with leases. Tests
// decide how and when the replies travel, and what goes wrong on the way out: by
// setting the hooks before the first call, or with change.
type fakeDoor struct {
	// before is called when a script is sent, on the actor (a renewal: on the
	// wheel); it may panic. Nil: nothing.
	before func(script, name string)
	// carry runs a script and delivers its reply, in its own time. Nil: on a
	// goroutine, at once.
	carry func(script string, run func())
	// renewed may replace a renewal's reply; called after it ran. Nil: does not.
	renewed func(items []*rediscmd.Renewal, r *rediscmd.Reply)

	mu      sync.Mutex
	locks   map[string]*fakeLock
	sent    map[string]int // by script
	batches []int          // sizes of the Renew calls
}

type fakeLock struct {
	owner   string
	count   int64
	expires time.Time
}

var (
	_ Door = (*fakeDoor)(nil)

	errFake = errors.New("fake: the server is away")
)

func newFakeDoor() *fakeDoor {
	return &fakeDoor{locks: map[string]*fakeLock{}, sent: map[string]int{}}
}

// change sets hooks while scripts are running.
func (d *fakeDoor) change(f func(d *fakeDoor)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

// get returns the lock of name, if it has not expired. With mu held.
func (d *fakeDoor) get(name string) *fakeLock {
	l := d.locks[name]
	if l != nil && !time.Now().Before(l.expires) {
		delete(d.locks, name)
		l = nil
	}
	return l
}

// holder returns who has name, "" for nobody.
func (d *fakeDoor) holder(name string) (owner string, count int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.get(name); l != nil {
		return l.owner, l.count
	}
	return "", 0
}

// put makes an outsider's lock, or changes the holder.
func (d *fakeDoor) put(name, owner string, lease time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.locks[name] = &fakeLock{owner, 1, time.Now().Add(lease)}
}

// times returns how often a script was sent.
func (d *fakeDoor) times(script string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sent[script]
}

// sizes returns the sizes of the Renew calls so far.
func (d *fakeDoor) sizes() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]int(nil), d.batches...)
}

func (d *fakeDoor) send(script, name string, op *rediscmd.Op, done rediscmd.Completer, f func() rediscmd.Reply) {
	d.mu.Lock()
	d.sent[script]++
	before, carry := d.before, d.carry
	d.mu.Unlock()
	if before != nil {
		before(script, name)
	}
	sentAt := time.Now()
	run := func() {
		d.mu.Lock()
		r := f()
		d.mu.Unlock()
		r.SentAt = sentAt
		op.Reply = r
		done.Completed(op)
	}
	if carry != nil {
		carry(script, run)
	} else {
		go run()
	}
}

func (d *fakeDoor) Acquire(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.AcquireArgs) {
	d.send("acquire", a.Name, op, done, func() rediscmd.Reply {
		l := d.get(a.Name)
		switch {
		case l == nil && a.Level > 1:
			return rediscmd.Reply{Verdict: rediscmd.Absent}
		case l != nil && l.owner != a.Owner.String():
			return rediscmd.Reply{Verdict: rediscmd.Held, TTL: time.Until(l.expires), Owner: l.owner, Count: l.count}
		}
		d.locks[a.Name] = &fakeLock{a.Owner.String(), a.Level, time.Now().Add(a.Lease)}
		return rediscmd.Reply{Verdict: rediscmd.Granted}
	})
}

func (d *fakeDoor) Release(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.ReleaseArgs) {
	d.send("release", a.Name, op, done, func() rediscmd.Reply {
		l := d.get(a.Name)
		switch {
		case l == nil || l.owner != a.Owner.String():
			return rediscmd.Reply{Verdict: rediscmd.Absent}
		case a.Level > 0:
			l.count, l.expires = a.Level, time.Now().Add(a.Lease)
			return rediscmd.Reply{Verdict: rediscmd.Lowered}
		}
		delete(d.locks, a.Name)
		return rediscmd.Reply{Verdict: rediscmd.Released}
	})
}

func (d *fakeDoor) HandOff(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.HandOffArgs) {
	d.send("handoff", a.Name, op, done, func() rediscmd.Reply {
		l := d.get(a.Name)
		if l == nil || l.owner != a.From.String() && l.owner != a.To.String() {
			return rediscmd.Reply{Verdict: rediscmd.Absent}
		}
		expires := l.expires
		if a.Lease != 0 {
			expires = time.Now().Add(a.Lease)
		}
		d.locks[a.Name] = &fakeLock{a.To.String(), 1, expires}
		return rediscmd.Reply{Verdict: rediscmd.HandedOver}
	})
}

func (d *fakeDoor) Extend(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.ExtendArgs) {
	d.send("extend", a.Name, op, done, func() rediscmd.Reply {
		l := d.get(a.Name)
		if l == nil || l.owner != a.Owner.String() {
			return rediscmd.Reply{Verdict: rediscmd.Absent}
		}
		l.expires = time.Now().Add(a.Lease)
		return rediscmd.Reply{Verdict: rediscmd.Renewed}
	})
}

func (d *fakeDoor) Force(op *rediscmd.Op, done rediscmd.Completer, name string) {
	d.send("force", name, op, done, func() rediscmd.Reply {
		if d.get(name) == nil {
			return rediscmd.Reply{Verdict: rediscmd.Absent}
		}
		delete(d.locks, name)
		return rediscmd.Reply{Verdict: rediscmd.Released}
	})
}

func (d *fakeDoor) Check(op *rediscmd.Op, done rediscmd.Completer, name string, owner rediscmd.Owner) {
	d.send("check", name, op, done, func() rediscmd.Reply {
		if l := d.get(name); l != nil && l.owner == owner.String() {
			return rediscmd.Reply{Verdict: rediscmd.Held, Count: l.count, TTL: time.Until(l.expires)}
		}
		return rediscmd.Reply{Verdict: rediscmd.Absent}
	})
}

func (d *fakeDoor) Inspect(op *rediscmd.Op, done rediscmd.Completer, name string) {
	d.send("inspect", name, op, done, func() rediscmd.Reply {
		if l := d.get(name); l != nil {
			return rediscmd.Reply{Verdict: rediscmd.Held, Owner: l.owner, Count: l.count, TTL: time.Until(l.expires)}
		}
		return rediscmd.Reply{Verdict: rediscmd.Absent}
	})
}

// Renew notes a batch as sent even if it fails.
func (d *fakeDoor) Renew(lease time.Duration, prefix string, items []*rediscmd.Renewal, done rediscmd.RenewCompleter) {
	d.mu.Lock()
	d.batches = append(d.batches, len(items))
	d.sent["renew"] += len(items)
	before, carry, renewed := d.before, d.carry, d.renewed
	d.mu.Unlock()
	if before != nil {
		before("renew", items[0].Name)
	}
	sentAt := time.Now()
	run := func() {
		r := rediscmd.Reply{SentAt: sentAt, Verdict: rediscmd.Renewed}
		d.mu.Lock()
		for _, item := range items {
			l := d.get(item.Name)
			item.Held = l != nil && l.owner == prefix+item.Owner
			if item.Held {
				l.expires = time.Now().Add(lease)
			}
		}
		d.mu.Unlock()
		if renewed != nil {
			renewed(items, &r)
		}
		done.Renewed(items, r)
	}
	if carry != nil {
		carry("renew", run)
	} else {
		go run()
	}
}

func (d *fakeDoor) Channel(name string) string { return "fake:" + name }
