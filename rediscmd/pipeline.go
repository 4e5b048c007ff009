package rediscmd

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/redis/rueidis"
)

// worker takes batches off a lane and sends each as one DoMulti. Its slices are its
// scratch space from batch to batch.
type worker struct {
	lane  *lane
	ops   []*Op // nil where completed
	cmds  []rueidis.Completed
	again []*Op // refused with NOSCRIPT
	keys  []string
	args  []string
}

// run works until the lane is closed and empty.
func (w *worker) run() {
	for {
		w.ops = w.lane.take(w.ops[:0])
		if len(w.ops) == 0 {
			return
		}
		w.batch()
	}
}

// batch completes every op in w.ops exactly once, come what may.
func (w *worker) batch() {
	c := w.lane.c
	defer func() {
		if v := recover(); v != nil {
			c.cfg.Logger.Error("rediscmd: panic in a pipeline worker", "panic", v, "stack", string(debug.Stack()))
			w.cmds = nil // see keep
			for i := range w.ops {
				w.fail(i, fmt.Errorf("panic: %v", v), time.Now())
			}
		}
		clear(w.cmds)
		clear(w.again)
		clear(w.keys)
		clear(w.args)
	}()

	w.dropRefused()
	if len(w.ops) == 0 {
		return
	}
	c.observe(len(w.ops))

	w.cmds = w.cmds[:0]
	for _, op := range w.ops {
		w.cmds = append(w.cmds, w.command(op, false))
	}
	sentAt := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	defer cancel()
	results := c.cfg.Client.DoMulti(ctx, w.cmds...)
	w.keep(results)

	w.again = w.again[:0]
	for i, op := range w.ops {
		m, err := results[i].ToMessage()
		if isNoScript(err) {
			w.again = append(w.again, op)
			w.ops[i] = nil
			continue
		}
		w.finish(i, &m, err, sentAt)
	}
	if len(w.again) > 0 {
		w.sendText(ctx, sentAt)
	}
}

// keep lets go of the slice of commands if any of them has no reply: rueidis may
// still be writing them, out of this very slice, long after DoMulti gave up. One
// that is used again would send a later batch's commands twice.
func (w *worker) keep(results []rueidis.RedisResult) {
	for i := range results {
		if results[i].NonRedisError() != nil {
			w.cmds = nil
			return
		}
	}
}

func isNoScript(err error) bool {
	if err == nil || rueidis.IsRedisNil(err) {
		return false
	}
	redisErr, ok := asRedisError(err)
	return ok && errorCode(redisErr.Error()) == "NOSCRIPT"
}

// sendText runs w.again with their text, which also teaches it to the server. They
// keep the time at which they were first sent: the lease may be counted from there.
func (w *worker) sendText(ctx context.Context, sentAt time.Time) {
	w.ops = append(w.ops[:0], w.again...)
	if ctx.Err() != nil {
		for i := range w.ops {
			w.reply(i, Reply{
				Outcome: OutcomeRetryable, SentAt: sentAt,
				Err: &CallError{Script: w.ops[i].script.name, Err: fmt.Errorf("the server forgot the script: %w", ctx.Err())},
			})
		}
		return
	}
	w.cmds = w.cmds[:0]
	for _, op := range w.ops {
		w.cmds = append(w.cmds, w.command(op, true))
	}
	results := w.lane.c.cfg.Client.DoMulti(ctx, w.cmds...)
	w.keep(results)
	for i, result := range results {
		m, err := result.ToMessage()
		w.finish(i, &m, err, sentAt)
	}
}

// dropRefused fails the ops that must not be sent, and closes the gaps.
func (w *worker) dropRefused() {
	kept := 0
	for i, op := range w.ops {
		if op.err == nil && w.lane.c.cfg.Cluster {
			op.err = op.crossSlot()
		}
		if op.err != nil {
			w.fail(i, op.err, time.Time{})
			continue
		}
		w.ops[i] = nil
		w.ops[kept] = op
		kept++
	}
	w.ops = w.ops[:kept]
}

// crossSlot finds keys in different slots, on which rueidis would panic.
func (op *Op) crossSlot() error {
	for i := 1; i < int(op.nkeys); i++ {
		if slot(op.keys[i]) != slot(op.keys[0]) {
			return &NameError{op.keys[0], "its braces put the lock and its channel into different cluster slots"}
		}
	}
	return nil
}

// command builds EVALSHA, or EVAL with the script's text.
func (w *worker) command(op *Op, text bool) rueidis.Completed {
	keys, args := op.keys[:op.nkeys], op.args[:op.nargs]
	if op.batch != nil {
		w.keys, w.args = op.batch.appendTo(w.keys[:0], w.args[:0])
		keys, args = w.keys, w.args
	}
	b := w.lane.c.cfg.Client.B()
	if text {
		return b.Eval().Script(op.script.text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
	}
	return b.Evalsha().Sha1(op.script.sha).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build()
}

// finish turns a result into op i's reply.
func (w *worker) finish(i int, m *rueidis.RedisMessage, err error, sentAt time.Time) {
	op := w.ops[i]
	if err != nil && !rueidis.IsRedisNil(err) {
		if w.lane.c.topology != nil {
			w.lane.c.topology.noticed(err)
		}
		w.fail(i, err, sentAt)
		return
	}
	op.Reply = Reply{SentAt: sentAt}
	if err := op.script.decode(op, m); err != nil {
		w.fail(i, err, sentAt)
		return
	}
	if op.Reply.Silent {
		w.lane.c.silent.Do(func() {
			w.lane.c.cfg.Logger.Warn("rediscmd: freed a lock, but may not publish that: waiters find out by polling", "script", op.script.name)
		})
	}
	w.complete(i)
}

func (w *worker) fail(i int, err error, sentAt time.Time) {
	if op := w.ops[i]; op != nil {
		op.fail(err, sentAt)
		w.complete(i)
	}
}

func (w *worker) reply(i int, r Reply) {
	w.ops[i].Reply = r
	w.complete(i)
}

// complete gives op i back to its owner, who may use it again at once: it is
// forgotten first.
func (w *worker) complete(i int) {
	op := w.ops[i]
	w.ops[i] = nil
	w.lane.c.complete(op)
}

// complete calls op's completer. One that panics has broken its promise, but the
// other ops of the batch are not to suffer.
func (c *Client) complete(op *Op) {
	done := op.done
	op.done = nil
	defer func() {
		if v := recover(); v != nil {
			c.cfg.Logger.Error("rediscmd: panic in a Completer", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	done.Completed(op)
}

func (c *Client) observe(size int) {
	if c.cfg.OnBatch == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			c.cfg.Logger.Error("rediscmd: panic in OnBatch", "panic", v)
		}
	}()
	c.cfg.OnBatch(size)
}
