package rediscmd

import (
	"time"

	"github.com/redis/rueidis"
)

// Renewal is one lease to extend. Its sender owns it, and leaves it alone from
// Renew until the RenewCompleter was called with it.
type Renewal struct {
	Name  string
	Owner string
	Lease time.Duration
	Held  bool // result, when the reply's Outcome is OutcomeDone: extended, so still held
	Value any  // the sender's own
}

// RenewCompleter receives renewals back. Renewed is called once per script sent
// with that script's items, on a pipeline worker; every item given to Renew comes
// back exactly once. It must not block. Held counts only when r.Outcome is
// OutcomeDone.
type RenewCompleter interface {
	Renewed(items []*Renewal, r Reply)
}

// maxRenew bounds how long one script keeps the server from other work: about
// 100 us for 128 leases.
const maxRenew = 128

// renewal is what a renewing Op carries instead of keys and args.
type renewal struct {
	op    Op
	c     *Client
	items []*Renewal
	done  RenewCompleter
}

// Renew extends leases, each only if its owner still holds it; a name whose key is
// of another type counts as not held. The items travel in scripts of up to 128
// names, in a cluster one name each; done hears of each script separately. Renew
// never blocks, and keeps items until the last script is back.
//
// When the server refuses a script of several names, its names are sent again one
// by one, so that one name nobody may touch does not cost the others their lease.
func (d Mutex) Renew(items []*Renewal, done RenewCompleter) {
	size := maxRenew
	if d.c.cfg.Cluster {
		size = 1
	}
	d.c.renew(items, size, done)
}

func (c *Client) renew(items []*Renewal, size int, done RenewCompleter) {
	runs := make([]renewal, (len(items)+size-1)/size)
	for i := range runs {
		r := &runs[i]
		r.c, r.done = c, done
		r.items, items = items[:min(size, len(items))], items[min(size, len(items)):]
		r.op.prepare(renewScript, r.items[0].Name, true)
		r.op.batch = r
		for _, item := range r.items {
			if _, err := wireLease(item.Lease); err != nil {
				r.op.refuse(err)
			}
		}
		c.submit(&r.op, r)
	}
}

// Completed implements Completer.
func (r *renewal) Completed(op *Op) {
	if op.Reply.Outcome == OutcomeFailed && len(r.items) > 1 && !op.Reply.SentAt.IsZero() {
		r.c.renew(r.items, 1, r.done)
		return
	}
	r.done.Renewed(r.items, op.Reply)
}

// names are the keys of a renewal.
func (r *renewal) names(keys []string) []string {
	for _, item := range r.items {
		keys = append(keys, item.Name)
	}
	return keys
}

var renewScript = newScript(script{name: "renew", args: func(c *Client, op *Op, args []string) []string {
	if op.batch == nil { // Extend
		return append(args, c.leases.format(op.terms.lease), op.owner)
	}
	for _, item := range op.batch.items {
		ms, _ := wireLease(item.Lease) // checked by renew
		args = append(args, c.leases.format(ms), item.Owner)
	}
	return args
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	if op.batch == nil { // Extend
		list, err := fields(m, 1)
		if err != nil {
			return err
		}
		n, err := integer(&list[0])
		op.Reply.Verdict = Absent
		if n == 1 {
			op.Reply.Verdict = Renewed
		}
		return err
	}
	list, err := fields(m, len(op.batch.items))
	if err != nil {
		return err
	}
	held := int64(0)
	for i := range list {
		n, err := integer(&list[i])
		if err != nil {
			return err
		}
		op.batch.items[i].Held = n == 1
		held += n
	}
	op.Reply.Verdict, op.Reply.Count = Renewed, held
	return nil
}})

// ExtendArgs says whose lease on what is set to how long from now.
type ExtendArgs struct {
	Name  string
	Owner string
	Lease time.Duration
}

// Extend sets the lease of a lock that its owner holds, be it longer or shorter than
// what is left: Renewed, or Absent when the owner does not hold it.
func (d Mutex) Extend(op *Op, done Completer, a ExtendArgs) {
	op.prepare(renewScript, a.Name, true)
	op.lease(a.Lease)
	op.by(a.Owner)
	d.c.submit(op, done)
}
