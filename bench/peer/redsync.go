package peer

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"github.com/holdfast-go/holdfast/bench/wire"
)

type redsyncSystem struct {
	ctx    context.Context
	client *goRedis
	sync   *redsync.Redsync
	lease  time.Duration
	delay  time.Duration
}

func openRedsync(ctx context.Context, job wire.Job) (System, error) {
	client, err := openGoRedis(ctx, job, redsyncPool)
	if err != nil {
		return nil, err
	}
	return &redsyncSystem{
		ctx:    ctx,
		client: client,
		sync:   redsync.New(goredis.NewPool(client)),
		lease:  lease(job),
		delay:  retryDelay(job, redsyncDelay),
	}, nil
}

func (s *redsyncSystem) Context() context.Context { return s.ctx }

// Slot makes one Mutex and uses it again and again, which spares redsync an
// allocation and its options.
func (s *redsyncSystem) Slot(name string) Slot {
	return &redsyncSlot{s.sync.NewMutex(name,
		redsync.WithExpiry(s.lease),
		redsync.WithTries(math.MaxInt32),
		redsync.WithRetryDelay(s.delay),
	)}
}

func (s *redsyncSystem) Close() error { return s.client.Close() }

type redsyncSlot struct{ mutex *redsync.Mutex }

func (s *redsyncSlot) Lock(ctx context.Context) error { return s.mutex.LockContext(ctx) }

func (s *redsyncSlot) Unlock(ctx context.Context) error {
	ok, err := s.mutex.UnlockContext(ctx)
	if err == nil && !ok {
		err = errors.New("redsync: no quorum for the unlock")
	}
	return err
}
