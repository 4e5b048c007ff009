package rediscmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// Config is what a Client needs. Only Client is required.
type Config struct {
	// Client carries every command. It is not closed by us, and must outlive the
	// Client made from it.
	Client rueidis.Client
	// Cluster: keys live on several primaries.
	Cluster bool
	// Timeout bounds one batch of commands, from sending to the last reply; it is
	// also how long a silent subscription connection is trusted. Default 1 s.
	Timeout time.Duration
	// Workers is the most batches under way at a time per primary. They are started
	// when they are first needed. Default 4.
	Workers int
	// MaxBatch is the most commands in one batch. Default 256, at most 1024: from
	// 2000 on rueidis opens another connection for each batch.
	MaxBatch int
	// Linger is how long a channel that nobody listens to stays subscribed.
	// Default 5 s.
	Linger time.Duration
	// OnBatch hears of every batch before it is sent. It must not block.
	OnBatch func(size int)
	// Logger gets what no reply can carry: panics, lost subscriptions. Default: none.
	Logger *slog.Logger
}

func (cfg Config) withDefaults() Config {
	cfg.Timeout = cmp.Or(cfg.Timeout, time.Second)
	cfg.Workers = cmp.Or(cfg.Workers, 4)
	cfg.MaxBatch = cmp.Or(cfg.MaxBatch, 256)
	cfg.Linger = cmp.Or(cfg.Linger, 5*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return cfg
}

func (cfg Config) validate() error {
	switch {
	case cfg.Client == nil:
		return errors.New("rediscmd: Config.Client is nil")
	case cfg.Timeout < 0:
		return fmt.Errorf("rediscmd: Config.Timeout is negative: %v", cfg.Timeout)
	case cfg.Workers < 0:
		return fmt.Errorf("rediscmd: Config.Workers is negative: %d", cfg.Workers)
	case cfg.MaxBatch < 0 || cfg.MaxBatch > 1024:
		return fmt.Errorf("rediscmd: Config.MaxBatch must be between 1 and 1024: %d", cfg.MaxBatch)
	case cfg.Linger < 0:
		return fmt.Errorf("rediscmd: Config.Linger is negative: %v", cfg.Linger)
	}
	return nil
}

// Client is one runtime's access to Redis: its pipeline of scripts, and its
// subscriptions. It is safe for concurrent use.
type Client struct {
	cfg        Config
	publish    string // PUBLISH or SPUBLISH
	leases     leaseText
	lanes      *lanes
	subscriber *Subscriber
	topology   *topology // nil unless Cluster

	silent  sync.Once // warns of a refused PUBLISH
	closing sync.Once
	stopped chan struct{} // closed when the last goroutine has ended
}

// New starts a Client. It loads the scripts into every server it can reach, which
// is only a matter of speed, and in a cluster asks whether pub/sub is sharded.
// That question decides whether wake-ups arrive at all, so New fails if it gets no
// answer within Timeout. It also fails for a Config out of range.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, publish: "PUBLISH", stopped: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), cfg.Timeout)
	defer cancel()
	if cfg.Cluster {
		sharded, err := learnSharded(ctx, cfg.Client)
		if err != nil {
			return nil, fmt.Errorf("rediscmd: ask for sharded pub/sub: %w", err)
		}
		if sharded {
			c.publish = "SPUBLISH"
		}
	}
	c.loadScripts(ctx)
	c.lanes = newLanes(c)
	c.subscriber = newSubscriber(c)
	if cfg.Cluster {
		c.topology = newTopology(c)
	}
	return c, nil
}

// learnSharded follows Redisson, with which wake-ups are exchanged: sharded if the
// server answers PUBSUB SHARDNUMSUB (Redis 7), not if it refuses.
func learnSharded(ctx context.Context, client rueidis.Client) (bool, error) {
	err := client.Do(ctx, client.B().PubsubShardnumsub().Channel("0").Build()).Error()
	if _, refused := asRedisError(err); refused && Classify(err) == OutcomeFailed {
		return false, nil
	}
	return err == nil, err
}

// loadScripts saves every script its first NOSCRIPT.
func (c *Client) loadScripts(ctx context.Context) {
	nodes := map[string]rueidis.Client{"": c.cfg.Client}
	if c.cfg.Cluster {
		nodes = c.cfg.Client.Nodes()
	}
	var wg sync.WaitGroup
	for _, node := range nodes {
		wg.Go(func() {
			load := make([]rueidis.Completed, 0, len(scripts))
			for _, s := range scripts {
				load = append(load, node.B().ScriptLoad().Script(s.text).Build())
			}
			node.DoMulti(ctx, load...)
		})
	}
	wg.Wait()
}

// Mutex returns the door to the plain lock.
func (c *Client) Mutex() Mutex { return Mutex{c} }

// Subscriber returns the client's subscriptions.
func (c *Client) Subscriber() *Subscriber { return c.subscriber }

// Capacity is how many operations keep the pipeline full: with more in flight each
// only waits longer in it. 0 means no bound: in a cluster there is a lane for each
// primary, and one that is full says nothing of the others.
func (c *Client) Capacity() int {
	if c.cfg.Cluster {
		return 0
	}
	return c.cfg.Workers * c.cfg.MaxBatch
}

// Sharded reports whether wake-ups travel by SPUBLISH, as they do in a cluster of
// Redis 7 and later.
func (c *Client) Sharded() bool { return c.publish == "SPUBLISH" }

func (c *Client) submit(op *Op, done Completer) {
	op.done = done
	if !c.lanes.of(op.name).push(op) {
		op.fail(ErrClosed, time.Time{})
		c.complete(op)
	}
}

// Close refuses new operations (they complete at once, with OutcomeFailed and
// ErrClosed), lets those that are queued finish, then stops the workers and the
// subscriber. When ctx ends first, what is still queued fails with ErrClosed and
// Close returns ctx's error; goroutines that wait for Redis end by themselves, at
// the latest after Timeout (a connection being dialled: rueidis' dial timeout).
// Close may be called again, also concurrently, to wait for them.
func (c *Client) Close(ctx context.Context) error {
	c.closing.Do(func() {
		c.lanes.close()
		go func() {
			c.lanes.wait()
			c.subscriber.close()
			if c.topology != nil {
				c.topology.close()
			}
			close(c.stopped)
		}()
	})
	select {
	case <-c.stopped:
		return nil
	default:
	}
	select {
	case <-c.stopped:
		return nil
	case <-ctx.Done():
		c.lanes.abandon()
		return ctx.Err()
	}
}
