package perform

import (
	"context"
	"fmt"

	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/peer"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// keeper is a program that holds many locks, and keeps of each what it needs to
// notice a loss and to give the lock back. Take is called from many goroutines,
// each with indexes of its own.
type keeper interface {
	// take locks a name and keeps it as number i.
	take(ctx context.Context, i int, name string) error
	// give gives number i back.
	give(ctx context.Context, i int) error
	// lost counts the locks that ended by themselves.
	lost() int
	close() error
}

// openKeeper makes room for n locks.
func openKeeper(ctx context.Context, job wire.Job, n int) (keeper, error) {
	switch job.System {
	case wire.Holdfast:
		rt, err := peer.OpenRuntime(ctx, job)
		if err != nil {
			return nil, err
		}
		return &holdfastKeeper{rt, make([]*holdfast.Hold, n)}, nil
	case wire.Rueidislock:
		locker, err := peer.OpenLocker(job)
		if err != nil {
			return nil, err
		}
		return &rueidislockKeeper{locker, make([]context.Context, n), make([]context.CancelFunc, n)}, nil
	default:
		return nil, fmt.Errorf("%q keeps no lease alive", job.System)
	}
}

type holdfastKeeper struct {
	rt    *peer.Runtime
	holds []*holdfast.Hold
}

func (k *holdfastKeeper) take(ctx context.Context, i int, name string) (err error) {
	k.holds[i], err = k.rt.Lock(name).Lock(ctx)
	return err
}

func (k *holdfastKeeper) give(ctx context.Context, i int) error {
	hold := k.holds[i]
	k.holds[i] = nil
	return hold.Unlock(ctx)
}

func (k *holdfastKeeper) lost() (n int) {
	for _, hold := range k.holds {
		if hold.ValidFor() <= 0 {
			n++
		}
	}
	return n
}

func (k *holdfastKeeper) close() error { return k.rt.Close() }

type rueidislockKeeper struct {
	locker  rueidislock.Locker
	held    []context.Context // each ends when its lock is lost
	cancels []context.CancelFunc
}

func (k *rueidislockKeeper) take(ctx context.Context, i int, name string) (err error) {
	k.held[i], k.cancels[i], err = k.locker.WithContext(ctx, name)
	return err
}

func (k *rueidislockKeeper) give(_ context.Context, i int) error {
	k.cancels[i]()
	k.held[i], k.cancels[i] = nil, nil
	return nil
}

func (k *rueidislockKeeper) lost() (n int) {
	for _, ctx := range k.held {
		if ctx.Err() != nil {
			n++
		}
	}
	return n
}

func (k *rueidislockKeeper) close() error {
	k.locker.Close()
	return nil
}
