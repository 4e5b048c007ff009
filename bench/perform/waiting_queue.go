package perform

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
	"github.com/holdfast-go/holdfast/future"
)

// queue is a program that waits for many locks at a time, the way that costs it
// least.
type queue interface {
	// join starts to wait for a name, as number i, and returns.
	join(ctx context.Context, i int, name string)
	// left counts those that wait no longer, and returns an error of one of them.
	left() (int, error)
	close() error
}

// openQueue makes room for n waiters.
func openQueue(ctx context.Context, job wire.Job, n int) (queue, error) {
	switch job.System {
	case wire.Holdfast:
		rt, err := peer.OpenRuntime(ctx, job)
		if err != nil {
			return nil, err
		}
		return &holdfastQueue{rt, make([]*future.Future[*holdfast.Hold], n)}, nil
	case wire.Rueidislock:
		locker, err := peer.OpenLocker(job)
		if err != nil {
			return nil, err
		}
		return &rueidislockQueue{locker: locker}, nil
	default:
		return nil, fmt.Errorf("%q is not told when a lock is free", job.System)
	}
}

type holdfastQueue struct {
	rt      *peer.Runtime
	futures []*future.Future[*holdfast.Hold]
}

func (q *holdfastQueue) join(ctx context.Context, i int, name string) {
	q.futures[i] = q.rt.Lock(name).LockAsync(ctx)
}

func (q *holdfastQueue) left() (n int, err error) {
	for _, f := range q.futures {
		if f != nil && f.IsDone() {
			n++
			_, err, _ = f.TryGet()
		}
	}
	return n, err
}

func (q *holdfastQueue) close() error { return q.rt.Close() }

// rueidislockQueue has a goroutine for each waiter: there is no other way.
type rueidislockQueue struct {
	locker  rueidislock.Locker
	waiters sync.WaitGroup
	gone    atomic.Int64
	why     atomic.Value // of the last that left
}

func (q *rueidislockQueue) join(ctx context.Context, _ int, name string) {
	q.waiters.Go(func() {
		_, cancel, err := q.locker.WithContext(ctx, name)
		if err != nil {
			q.why.Store(err.Error())
		} else {
			cancel()
		}
		q.gone.Add(1)
	})
}

func (q *rueidislockQueue) left() (int, error) {
	if why, ok := q.why.Load().(string); ok {
		return int(q.gone.Load()), fmt.Errorf("rueidislock: %s", why)
	}
	return int(q.gone.Load()), nil
}

// close wakes all waiters, who then find the locker closed.
func (q *rueidislockQueue) close() error {
	q.locker.Close()
	q.waiters.Wait()
	return nil
}
