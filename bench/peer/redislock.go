package peer

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"

	"github.com/holdfast-go/holdfast/bench/wire"
)

type redislockSystem struct {
	ctx    context.Context
	client *goRedis
	locks  *redislock.Client
	lease  time.Duration
	opts   *redislock.Options
}

func openRedislock(ctx context.Context, job wire.Job) (System, error) {
	client, err := openGoRedis(ctx, job, redislockPool)
	if err != nil {
		return nil, err
	}
	return &redislockSystem{
		ctx:    ctx,
		client: client,
		locks:  redislock.New(client),
		lease:  lease(job),
		opts:   &redislock.Options{RetryStrategy: redislock.LinearBackoff(retryDelay(job, redislockDelay))},
	}, nil
}

func (s *redislockSystem) Context() context.Context { return s.ctx }

func (s *redislockSystem) Slot(name string) Slot { return &redislockSlot{system: s, name: name} }

func (s *redislockSystem) Close() error { return s.client.Close() }

type redislockSlot struct {
	system *redislockSystem
	name   string
	lock   *redislock.Lock
}

// Lock asks again when redislock gives up, which it does after one lease when ctx
// has no deadline.
func (s *redislockSlot) Lock(ctx context.Context) error {
	for {
		var err error
		s.lock, err = s.system.locks.Obtain(ctx, s.name, s.system.lease, s.system.opts)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func (s *redislockSlot) Unlock(ctx context.Context) error { return s.lock.Release(ctx) }
