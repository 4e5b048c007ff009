package rediscmd

import (
	"log/slog"
	"time"

	"github.com/redis/rueidis"
)

// run is one execution of a script: for one op, or off clusters for up to maxMany
// with equal terms. Many locks in one run cost the server about half of what they
// cost one by one, and us less still; what the run does to each lock, publishing
// included, is the same. Its queue is the ops that are not completed yet.
type run struct {
	terms terms
	queue
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
		if cluster && !sameSlot(op.name) {
			op.refuse(&NameError{op.name, "its braces put the lock and its channel into different cluster slots"})
		}
		if op.Reply.Err != nil {
			op.fail(op.Reply.Err, time.Time{})
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
			if r.n() < maxMany {
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
	return w.newRun(op.terms)
}

// newRun returns an empty run, with the room of an earlier one.
func (w *worker) newRun(t terms) *run {
	n := len(w.runs)
	if n == cap(w.runs) {
		w.runs = append(w.runs, run{})
	}
	w.runs = w.runs[:n+1]
	r := &w.runs[n]
	r.terms, r.text = t, false
	return r
}

// command builds EVALSHA, or EVAL with the script's text.
func (w *worker) command(r *run) rueidis.Completed {
	s, client := r.terms.script, w.lane.c
	w.keys, w.args = w.keys[:0], s.args(client, r.first(), w.args[:0])
	switch {
	case r.first().batch != nil:
		w.keys, w.args = r.first().batch.appendTo(w.keys, w.args)
	case s.many:
		for _, op := range r.all() {
			w.keys = append(w.keys, op.name)
		}
		w.args = w.owners(r.all(), w.args)
	default:
		w.keys = append(w.keys, r.first().name)
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
	w.warm(r)
	if r.n() == 1 || !m.IsArray() {
		for r.n() > 0 {
			w.answer(r, m, sentAt)
		}
		return
	}
	list, err := fields(m, r.n())
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
	op := r.first()
	op.Reply = Reply{SentAt: sentAt}
	err := s.decode(op, m)
	r.pop()
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
	for r.n() > 0 {
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
