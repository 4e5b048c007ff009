package rediscmd

import (
	"log/slog"
	"time"

	"github.com/redis/rueidis"
)

// run is one execution of a script: for one op, or off clusters for up to maxMany
// with equal terms. Many locks in one run cost the server about half of what they
// cost one by one, and us less still; what the run does to each lock, publishing
// included, is the same. Its ops are linked in order; a completed one is no longer
// among them.
type run struct {
	terms terms
	fifo
	text bool // the script goes with its text: the server had forgotten it
}

const (
	// maxMany bounds how long one run keeps the server from other work: about
	// 300 us for 128 locks.
	maxMany = 128
	// maxOpen bounds the search for a run to join.
	maxOpen = 8
)

// plan sorts the ops that were taken into runs, those with equal terms together,
// and fails those that must not be sent. It returns how many will be.
func (w *worker) plan() (n int) {
	cluster := w.lane.c.cfg.Cluster
	w.open = w.open[:0]
	for i, op := range w.ops {
		w.ops[i] = nil
		if op.err == nil && cluster && !sameSlot(op.name) {
			op.err = &NameError{op.name, "its braces put the lock and its channel into different cluster slots"}
		}
		if op.err != nil {
			op.fail(op.err, time.Time{})
			w.lane.c.complete(op)
			continue
		}
		w.runFor(op, op.terms.script.many && op.batch == nil && !cluster).push(op)
		n++
	}
	return n
}

// runFor returns the run that op may join, or a new one.
func (w *worker) runFor(op *Op, joins bool) *run {
	if joins {
		for j, i := range w.open {
			r := &w.runs[i]
			if r.terms != op.terms {
				continue
			}
			if r.n < maxMany {
				return r
			}
			w.open[j] = len(w.runs) // full: the next one takes its place
			joins = false
			break
		}
		if joins && len(w.open) < maxOpen {
			w.open = append(w.open, len(w.runs))
		}
	}
	w.runs = append(w.runs, run{terms: op.terms})
	return &w.runs[len(w.runs)-1]
}

// command builds EVALSHA, or EVAL with the script's text.
func (w *worker) command(r *run) rueidis.Completed {
	s, client := r.terms.script, w.lane.c
	w.keys, w.args = w.keys[:0], s.args(client, r.head, w.args[:0])
	switch {
	case r.head.batch != nil:
		w.keys, w.args = r.head.batch.appendTo(w.keys, w.args)
	case s.many:
		for op := r.head; op != nil; op = op.next {
			w.keys, w.args = append(w.keys, op.name), append(w.args, op.owner)
		}
	default:
		w.keys = append(w.keys, r.head.name)
	}
	b := client.cfg.Client.B()
	if r.text {
		return b.Eval().Script(s.text).Numkeys(int64(len(w.keys))).Key(w.keys...).Arg(w.args...).Build()
	}
	return b.Evalsha().Sha1(s.sha).Numkeys(int64(len(w.keys))).Key(w.keys...).Arg(w.args...).Build()
}

// answered turns the reply to r into those of its ops: a list has an entry for
// each, anything else goes for all.
func (w *worker) answered(r *run, m *rueidis.RedisMessage, sentAt time.Time) {
	if r.n == 1 || !m.IsArray() {
		for r.n > 0 {
			w.answer(r, m, sentAt)
		}
		return
	}
	list, err := fields(m, r.n)
	if err != nil {
		w.failed(r, err, sentAt)
		return
	}
	for i := range list {
		if err := list[i].Error(); err != nil && !rueidis.IsRedisNil(err) {
			w.fail(r.pop(), err, sentAt)
		} else {
			w.answer(r, &list[i], sentAt)
		}
	}
}

// answer completes r's first op with what the script said about it.
func (w *worker) answer(r *run, m *rueidis.RedisMessage, sentAt time.Time) {
	s := r.terms.script
	r.head.Reply = Reply{SentAt: sentAt}
	err := s.decode(r.head, m)
	op := r.pop()
	if err != nil {
		w.fail(op, err, sentAt)
		return
	}
	silent := op.Reply.Silent
	w.lane.c.complete(op) // from here on op is its owner's
	if silent {
		w.lane.c.silent.Do(func() {
			w.lane.c.log(slog.LevelWarn, "rediscmd: freed a lock, but may not publish that: waiters find out by polling", "script", s.name)
		})
	}
}

// failed completes every op that r still has with an error.
func (w *worker) failed(r *run, err error, sentAt time.Time) {
	for r.n > 0 {
		w.fail(r.pop(), err, sentAt)
	}
}

func (w *worker) fail(op *Op, err error, sentAt time.Time) {
	if w.lane.c.topology != nil && !sentAt.IsZero() {
		w.lane.c.topology.noticed(err)
	}
	op.fail(err, sentAt)
	w.lane.c.complete(op)
}
