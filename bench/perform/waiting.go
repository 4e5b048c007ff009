package perform

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/bench/look"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// waiting makes Waiters calls for Names locks that somebody else holds, and waits
// until they are at rest. An operation is a call that waits.
func waiting(ctx context.Context, job wire.Job, start func() error) (wire.Sample, error) {
	if job.Names < 1 || job.Waiters < job.Names {
		return wire.Sample{}, fmt.Errorf("%d waiters for %d names", job.Waiters, job.Names)
	}
	// A connection past the system under test, which is there before anything is
	// measured.
	redis, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{job.Addr}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		return wire.Sample{}, fmt.Errorf("connect: %w", err)
	}
	defer redis.Close()
	names := make([]string, job.Names)
	for i := range names {
		names[i] = job.Prefix + strconv.Itoa(i)
	}
	if err := occupy(ctx, redis, job.System, names); err != nil {
		return wire.Sample{}, err
	}
	q, err := openQueue(ctx, job, job.Waiters)
	if err != nil {
		return wire.Sample{}, err
	}
	sample, err := wait(ctx, job, names, q, redis, start)
	return sample, errors.Join(err, q.close())
}

// stranger holds the locks. The form is that of Redisson's and holdfast's owners.
const stranger = "5f0c1f4e-8a55-4a0b-9d4b-6f3c1d2e7a90:1"

// occupy writes the locks as a program of the same kind elsewhere would.
func occupy(ctx context.Context, client rueidis.Client, system string, names []string) error {
	const lease = time.Hour
	for _, name := range names {
		write := rueidis.Commands{client.B().Set().Key("rueidislock:0:" + name).Value(stranger).Px(lease).Build()}
		if system == wire.Holdfast {
			write = rueidis.Commands{
				client.B().Hset().Key(name).FieldValue().FieldValue(stranger, "1").Build(),
				client.B().Pexpire().Key(name).Milliseconds(lease.Milliseconds()).Build(),
			}
		}
		for _, r := range client.DoMulti(ctx, write...) {
			if err := r.Error(); err != nil {
				return fmt.Errorf("write somebody else's locks: %w", err)
			}
		}
	}
	return nil
}

func wait(ctx context.Context, job wire.Job, names []string, q queue, redis rueidis.Client, start func() error) (wire.Sample, error) {
	empty := takeFootprint()
	before, err := look.Connected(ctx, redis)
	if err != nil {
		return wire.Sample{}, err
	}
	if err := start(); err != nil {
		return wire.Sample{}, err
	}
	m, err := startMeter()
	if err != nil {
		return wire.Sample{}, err
	}
	for i := range job.Waiters {
		q.join(ctx, i, names[i%len(names)])
	}
	if err := atRest(ctx, job, redis); err != nil {
		return wire.Sample{}, err
	}
	sample, err := m.stop()
	if err != nil {
		return wire.Sample{}, err
	}
	full := takeFootprint().since(empty)
	clients, err := look.Connected(ctx, redis)
	if err != nil {
		return wire.Sample{}, err
	}
	if left, err := q.left(); left > 0 || err != nil {
		return wire.Sample{}, fmt.Errorf("%d of %d waiters do not wait: %w", left, job.Waiters, err)
	}
	sample.Ops = int64(job.Waiters)
	sample.HeapBytes, sample.Goroutines = full.heap, full.goroutines
	sample.Extra = map[string]float64{
		wire.BytesEach:     full.per(job.Waiters),
		wire.StackBytes:    float64(full.stacks),
		wire.Subscriptions: float64(clients.Subscriptions) / float64(job.Names),
		wire.Connections:   float64(clients.Connections - before.Connections),
	}
	return sample, nil
}

// atRest waits until every name has been asked for and nothing more is asked.
func atRest(ctx context.Context, job wire.Job, redis rueidis.Client) error {
	const pause, quiet = 25 * time.Millisecond, 4
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the waiters do not come to rest"))
	defer cancel()
	last, same := int64(-1), 0
	for same < quiet {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		load, err := look.At(ctx, redis)
		if err != nil {
			return err
		}
		clients, err := look.Connected(ctx, redis)
		if err != nil {
			return err
		}
		same++
		if load.Scripts != last || job.System == wire.Holdfast && clients.Subscriptions < job.Names {
			last, same = load.Scripts, 0
		}
	}
	return nil
}
