package rediscmd

import (
	"log/slog"
	"runtime/debug"
)

// Warmer is a Completer that has memory fetched before it is needed. When the ops of
// a large run have been answered, Warm is called for each of them before any of that
// run is completed, on the same goroutine: it should read, without locks, a word of each
// place that Completed is going to use. The processor then fetches all these places
// side by side, where Completed would wait for one after the other. The result means
// nothing; it only keeps what was read from being optimized away.
type Warmer interface{ Warm() int64 }

// warmable is the least size of a run that is worth it: fewer ops were sent so
// recently that they are still in the cache.
const warmable = 16

func (w *worker) warm(r *run) {
	if r.n() < warmable {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			w.lane.c.log(slog.LevelError, "rediscmd: panic in a Warmer", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	for _, op := range r.all() {
		if c, ok := op.done.(Warmer); ok {
			w.seen += c.Warm()
		}
	}
}
