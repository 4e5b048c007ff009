package future

import (
	"context"
	"iter"
)

// Completed returns fs with their indexes in the order in which they are done; those that are done at the beginning
// come first, in the order of fs. It claims nothing: call [Future.Get] or [Future.TryGet] in the loop to take a value.
//
// The sequence ends early, without a further sign, when ctx ends; futures that are done are returned before ctx is
// looked at. That, or breaking out of the loop, cancels nothing: the other futures go on and can be used as before.
// No goroutine is involved, so there is nothing to leak. Each loop over the sequence begins anew.
func Completed[T any](ctx context.Context, fs ...*Future[T]) iter.Seq2[int, *Future[T]] {
	return func(yield func(int, *Future[T]) bool) {
		c := collect(fs)
		defer c.stop()
		for range fs {
			i, ok := c.next(ctx)
			if !ok || !yield(i, fs[i]) {
				return
			}
		}
	}
}

// collector hears of each of some futures when it is done, without claiming. Its channel has a slot for every future,
// so who settles never blocks on a collector, not even on one that nobody listens to any more. Only stop is needed to
// leave futures that stay pending; a collector whose futures are all done takes care of itself.
type collector[T any] struct {
	fs    []*Future[T]
	nodes []waiter
	ch    chan int
}

func collect[T any](fs []*Future[T]) *collector[T] {
	c := &collector[T]{fs: fs, nodes: make([]waiter, len(fs)), ch: make(chan int, len(fs))}
	for i, f := range fs {
		w := &c.nodes[i]
		w.ch, w.id = c.ch, i
		if !f.enlist(w) {
			c.ch <- i
		}
	}
	return c
}

// next returns the index of the next future that is done; false if ctx ended first.
func (c *collector[T]) next(ctx context.Context) (int, bool) { return receive(ctx, c.ch) }

// stop forgets the futures that are not done.
func (c *collector[T]) stop() {
	for i, f := range c.fs {
		f.unlist(&c.nodes[i])
	}
}
