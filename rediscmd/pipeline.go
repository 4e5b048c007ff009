package rediscmd

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/redis/rueidis"
)

// worker takes batches off a lane and sends each as one DoMulti. Its slices are its
// scratch space from batch to batch.
type worker struct {
	lane     *lane
	ops      []*Op // taken, not yet planned
	runs     []run // under way
	again    []run // to be sent once more
	open     []int // indexes of runs that others may join
	cmds     []rueidis.Completed
	results  []rueidis.RedisResult
	keys     []string
	args     []string
	written  []byte               // owners' fields
	ends     []int                // where each one ends
	spoke    Owner                // whose field was written last by itself
	said     string               // ... and the field
	msg      rueidis.RedisMessage // the reply that is being read
	deadline *deadline
	carried  int   // operations that the lane counts as on their way
	busy     bool  // completing a batch that is answered; the lane still counts this worker as away
	seen     int64 // by warm, and never looked at
}

// run works until the lane is closed and empty.
func (w *worker) run() {
	for {
		w.ops = w.lane.take(w.ops[:0])
		if len(w.ops) == 0 {
			return
		}
		w.carried = len(w.ops)
		w.batch()
		w.home()
	}
}

// small is a batch whose completion takes no time worth mentioning.
const small = 8

// landed tells the lane that the batch is answered. A small one is as good as
// completed; with a large one this worker has its hands full, and others look at the
// queue.
func (w *worker) landed() {
	if w.carried == 0 {
		return
	}
	w.busy = w.carried > small
	for i := 0; i < len(w.runs) && !w.busy; i++ { // no reply was looked at yet: none is empty
		b := w.runs[i].first().batch
		w.busy = b != nil && len(b.items) > small
	}
	w.lane.landed(w.carried, !w.busy)
	w.carried = 0
}

// home tells the lane that the batch is completed, if that does not know yet.
func (w *worker) home() {
	if w.busy || w.carried > 0 {
		w.lane.landed(w.carried, true)
		w.carried, w.busy = 0, false
	}
}

// batch completes every op in w.ops exactly once, come what may.
func (w *worker) batch() {
	c := w.lane.c
	defer func() {
		if v := recover(); v != nil {
			c.log(slog.LevelError, "rediscmd: panic in a pipeline worker", "panic", v, "stack", string(debug.Stack()))
			w.cmds = nil // see keep
			w.giveUp(fmt.Errorf("panic: %v", v))
		}
		clear(w.cmds[:cap(w.cmds)])
		clear(w.keys[:cap(w.keys)]) // an earlier run may have had more
		clear(w.args[:cap(w.args)])
		clear(w.results)
		w.msg = rueidis.RedisMessage{}
	}()

	n := w.plan()
	if n == 0 {
		return
	}
	c.observe(n)
	sentAt := time.Now()
	w.deadline = w.deadline.start(c.cfg.Timeout)
	defer func() { w.deadline = w.deadline.stop() }()
	w.round(sentAt)
	for len(w.again) > 0 {
		w.runs, w.again = w.again, w.runs
		if err := w.deadline.Err(); err != nil {
			w.tooLate(err, sentAt)
			return
		}
		w.round(sentAt)
	}
}

// round sends w.runs, completes what is answered, and leaves the rest in w.again:
// runs of a script that the server had forgotten, to be sent with its text, and runs
// for many that were refused, to be sent one by one, so that a lock nobody may touch
// does not cost the others theirs. In neither case anything had run.
//
// All keep the time at which they were first sent: the lease may be counted from
// there.
func (w *worker) round(sentAt time.Time) {
	w.cmds = w.cmds[:0]
	for i := range w.runs {
		w.cmds = append(w.cmds, w.command(&w.runs[i]))
	}
	client := w.lane.c.cfg.Client
	if len(w.runs) == 1 {
		w.results = append(w.results[:0], client.Do(w.deadline, w.cmds[0]))
	} else {
		w.results = client.DoMulti(w.deadline, w.cmds...)
		w.keep(w.results)
	}
	if !w.goesAgain() {
		w.landed()
	}
	for i := range w.results {
		w.reply(&w.runs[i], w.results[i], sentAt)
	}
	w.runs = w.runs[:0]
}

// goesAgain reports whether a round will follow.
func (w *worker) goesAgain() bool {
	for i := range w.results {
		if err := w.results[i].Error(); err != nil && w.runs[i].goesAgain(err) {
			return true
		}
	}
	return false
}

// goesAgain reports whether a run that met this error is to be sent once more.
func (r *run) goesAgain(err error) bool {
	return isNoScript(err) && !r.text || r.n() > 1 && !rueidis.IsRedisNil(err) && Classify(err) == OutcomeFailed
}

func (w *worker) reply(r *run, result rueidis.RedisResult, sentAt time.Time) {
	var err error
	w.msg, err = result.ToMessage()
	switch {
	case err == nil || rueidis.IsRedisNil(err):
		w.answered(r, &w.msg, sentAt)
	case !r.goesAgain(err):
		w.failed(r, err, sentAt)
	case isNoScript(err):
		w.again = append(w.again, run{terms: r.terms, queue: r.queue, text: true})
		r.queue = queue{}
	default:
		for r.n() > 0 {
			one := run{terms: r.terms, text: r.text}
			one.push(r.pop())
			w.again = append(w.again, one)
		}
	}
}

// tooLate completes w.runs, of which nothing has run.
func (w *worker) tooLate(err error, sentAt time.Time) {
	for i := range w.runs {
		for r := &w.runs[i]; r.n() > 0; {
			op := r.pop()
			op.Reply = Reply{
				Outcome: OutcomeRetryable, SentAt: sentAt,
				Err: &CallError{Script: op.terms.script.name, Err: fmt.Errorf("no time left to send it again: %w", err)},
			}
			w.lane.c.complete(op)
		}
	}
	w.runs = w.runs[:0]
}

// giveUp completes what a panic has left.
func (w *worker) giveUp(err error) {
	now := time.Now()
	for _, runs := range [][]run{w.runs, w.again} {
		for i := range runs {
			w.failed(&runs[i], err, now)
		}
	}
	for _, op := range w.ops {
		if op != nil {
			w.fail(op, err, now)
		}
	}
	w.runs, w.again = w.runs[:0], w.again[:0]
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

// complete calls op's completer. One that panics has broken its promise, but the
// other ops of the batch are not to suffer.
func (c *Client) complete(op *Op) {
	done := op.done
	op.done = nil
	defer func() {
		if v := recover(); v != nil {
			c.log(slog.LevelError, "rediscmd: panic in a Completer", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	done.Completed(op)
}

// log tells the logger. One that panics is not heard.
func (c *Client) log(level slog.Level, message string, args ...any) {
	defer func() { _ = recover() }()
	c.cfg.Logger.Log(context.Background(), level, message, args...)
}

func (c *Client) observe(size int) {
	if c.cfg.OnBatch == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			c.log(slog.LevelError, "rediscmd: panic in OnBatch", "panic", v)
		}
	}()
	c.cfg.OnBatch(size)
}
