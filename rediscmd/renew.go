package rediscmd

import (
	"time"

	"github.com/redis/rueidis"
)

// Renewal is one lease to extend. Its sender owns it, and leaves it alone from
// Renew until the RenewCompleter was called with it.
type Renewal struct {
	Name  string
	Owner string // without the prefix that is given to Renew
	Held  bool   // result, when the reply's Outcome is OutcomeDone: extended, so still held
	Value any    // the sender's own
}

// RenewCompleter receives renewals back. Renewed is called once per script sent
// with that script's items, on a pipeline worker; every item given to Renew comes
// back exactly once. It must not block. Held counts only when r.Outcome is
// OutcomeDone.
type RenewCompleter interface {
	Renewed(items []*Renewal, r Reply)
}

// renewal is what a renewing Op carries instead of a name and an owner.
type renewal struct {
	op     Op
	c      *Client
	lease  time.Duration
	prefix string
	items  []*Renewal
	done   RenewCompleter
}

// Renew makes leases last at least that long from now, each only if its owner still
// holds it; a name whose key is of another type counts as not held. All owners begin
// with prefix, which travels once. The items travel in scripts of up to 256 names, in
// a cluster one name each; done hears of each script separately. Renew never blocks,
// and keeps items until the last script is back.
//
// When the server refuses a script of several names, its names are sent again one
// by one, so that one name nobody may touch does not cost the others their lease.
func (d Mutex) Renew(lease time.Duration, prefix string, items []*Renewal, done RenewCompleter) {
	size := maxRenew
	if d.c.cfg.Cluster {
		size = 1
	}
	d.c.renew(renewal{lease: lease, prefix: prefix, done: done}, items, size)
}

// maxRenew bounds how long one script keeps the server from other work: about 0.7 ms
// for 256 leases. Renewals are in no hurry, so they take what a run may cost.
const maxRenew = 256

// renew sends items in runs of at most size, on the terms of like.
func (c *Client) renew(like renewal, items []*Renewal, size int) {
	runs := make([]renewal, (len(items)+size-1)/size)
	for i := range runs {
		r := &runs[i]
		r.c, r.lease, r.prefix, r.done = c, like.lease, like.prefix, like.done
		r.items, items = items[:min(size, len(items))], items[min(size, len(items)):]
		r.op.prepare(renewScript, r.items[0].Name)
		r.op.batch = r
		r.op.lease(r.lease)
		c.submit(&r.op, r)
	}
}

// Completed implements Completer.
func (r *renewal) Completed(op *Op) {
	if op.Reply.Outcome == OutcomeFailed && len(r.items) > 1 && !op.Reply.SentAt.IsZero() {
		r.c.renew(*r, r.items, 1)
		return
	}
	r.done.Renewed(r.items, op.Reply)
}

// appendTo adds the names and owners.
func (r *renewal) appendTo(keys, args []string) ([]string, []string) {
	for _, item := range r.items {
		keys, args = append(keys, item.Name), append(args, item.Owner)
	}
	return keys, args
}

var renewScript = newScript(script{name: "renew", urgent: true, many: true, args: func(c *Client, op *Op, args []string) []string {
	prefix := ""
	if op.batch != nil {
		prefix = op.batch.prefix
	}
	return append(args, c.leases.format(op.terms.lease), prefix)
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	if op.batch != nil {
		return op.batch.decode(op, m)
	}
	n, err := integer(m)
	op.Reply.Verdict = Absent
	if n == 1 {
		op.Reply.Verdict = Renewed
	}
	return err
}})

// decode reads one answer for all items, or a list with each one's.
func (r *renewal) decode(op *Op, m *rueidis.RedisMessage) error {
	op.Reply.Verdict = Renewed
	if !m.IsArray() {
		n, err := integer(m)
		for _, item := range r.items {
			item.Held = n == 1
		}
		op.Reply.Count = n * int64(len(r.items))
		return err
	}
	list, err := fields(m, len(r.items))
	if err != nil {
		return err
	}
	for i := range list {
		n, err := integer(&list[i])
		if err != nil {
			return err
		}
		r.items[i].Held = n == 1
		op.Reply.Count += n
	}
	return nil
}

// ExtendArgs says whose lease on what is set to how long from now.
type ExtendArgs struct {
	Name  string
	Owner Owner
	Lease time.Duration
}

// Extend makes the lease of a lock last at least that long from now, if its owner holds
// it: Renewed, or Absent. A longer one is left alone.
func (d Mutex) Extend(op *Op, done Completer, a ExtendArgs) {
	op.prepare(renewScript, a.Name)
	op.lease(a.Lease)
	op.by(a.Owner)
	d.c.submit(op, done)
}
