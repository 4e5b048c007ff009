package rediscmd

import "github.com/redis/rueidis"

// Check asks for an owner's hold: Held (with Count), or Absent; TTL is the key's in
// both cases.
func (d Mutex) Check(op *Op, done Completer, name string, owner Owner) {
	op.prepare(checkScript, name)
	op.by(owner)
	d.c.submit(op, done)
}

var checkScript = newScript(script{name: "check", args: func(_ *Client, op *Op, args []string) []string {
	return append(args, op.owner.String())
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	list, err := fields(m, 2)
	if err != nil {
		return err
	}
	ms, err := integer(&list[1])
	if err != nil {
		return err
	}
	op.Reply.TTL, op.Reply.Verdict = remainingTTL(ms), Absent
	if list[0].IsNil() {
		return nil
	}
	op.Reply.Verdict = Held
	op.Reply.Count, err = holdCount(&list[0])
	return err
}})

// Inspect looks at a lock from outside: Held (with Owner, Count, TTL) or Absent,
// and in both cases Listeners. A hash with several fields shows its first.
func (d Mutex) Inspect(op *Op, done Completer, name string) {
	op.prepare(inspectScript, name)
	d.c.submit(op, done)
}

var inspectScript = newScript(script{name: "inspect", args: func(c *Client, _ *Op, args []string) []string {
	return append(args, c.publish)
}, decode: func(op *Op, m *rueidis.RedisMessage) error {
	list, err := fields(m, 5)
	if err != nil {
		return err
	}
	exists, err := integer(&list[0])
	if err != nil {
		return err
	}
	ms, err := integer(&list[3])
	if err != nil {
		return err
	}
	if op.Reply.Listeners, err = integer(&list[4]); err != nil {
		return err
	}
	op.Reply.TTL, op.Reply.Verdict = remainingTTL(ms), Absent
	if exists == 0 {
		return nil
	}
	op.Reply.Verdict = Held
	if op.Reply.Owner, err = list[1].ToString(); err != nil {
		return unexpected(m)
	}
	op.Reply.Count, err = holdCount(&list[2])
	return err
}})
