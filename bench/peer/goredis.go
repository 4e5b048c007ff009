package peer

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// goRedis is the client of redsync and redislock.
type goRedis struct {
	redis.UniversalClient // what the library is given
	client                *redis.Client
}

// openGoRedis connects. As it comes, the client sends one command at a time on
// each connection of its pool; callers that find none queue for one, and must
// not time out doing so. Its autopipeline sends the commands of many callers
// together.
func openGoRedis(ctx context.Context, job wire.Job, pool int) (*goRedis, error) {
	client := redis.NewClient(&redis.Options{
		Addr:        job.Addr,
		PoolSize:    job.Knob("pool", pool),
		PoolTimeout: time.Minute,
	})
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	if job.System != wire.RedsyncPiped && job.System != wire.RedislockPiped {
		return &goRedis{client, client}, nil
	}
	pipe, err := client.AutoPipeline()
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &goRedis{pipe, client}, nil
}

// Close ends the pipeline, if there is one, and the connections.
func (g *goRedis) Close() error { return g.client.Close() }

// retryDelay is how long redsync and redislock sleep between two attempts at a
// lock that is held by another. Neither is told when a lock becomes free.
func retryDelay(job wire.Job, standard time.Duration) time.Duration {
	return time.Duration(job.Knob("delayus", int(standard.Microseconds()))) * time.Microsecond
}
