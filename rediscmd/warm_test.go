package rediscmd

import (
	"fmt"
	"testing"
)

// warmed counts, for one batch.
type warmed struct {
	warm, completed int
	late            bool // Warm came after a Completed
	panics          bool
}

func (w *warmed) Warm() int64 {
	w.warm++
	w.late = w.late || w.completed > 0
	if w.panics {
		panic("warm")
	}
	return 1
}

func (w *warmed) Completed(op *Op) {
	if op.Reply.Verdict == Granted {
		w.completed++
	}
}

// Completers are warmed once, before the first is completed; not for a few ops. One
// that panics costs nobody the reply.
func TestWarm(t *testing.T) {
	_, c, _ := realServer(t)
	for _, tt := range []struct {
		name   string
		n      int
		panics bool
		warm   int
	}{
		{"few", warmable - 1, false, 0},
		{"many", maxMany, false, maxMany},
		{"panic", maxMany, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &warmed{panics: tt.panics}
			var ops []*Op
			for i := range tt.n {
				op := wants(fmt.Sprint(tt.name, i), Owner{"a", 1}, 1, false)
				op.done = w
				ops = append(ops, op)
			}
			(&worker{lane: c.lanes.only, ops: ops}).batch()
			if w.warm != tt.warm || w.late || w.completed != tt.n {
				t.Errorf("%+v, want %d warmed before any of %d is completed", *w, tt.warm, tt.n)
			}
		})
	}
}
