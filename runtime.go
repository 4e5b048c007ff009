package holdfast

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/actors"
	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/telemetry"
)

// Runtime serves locks over one Redis deployment. It is what a RedissonClient is
// in Java: it has a uuid, and its locks' owners are numbered under it. Make one
// per process and deployment; it is safe for concurrent use.
type Runtime struct {
	id      string
	cfg     config
	system  *actors.System
	tel     *telemetry.Recorder
	client  rueidis.Client
	owned   bool // the client was made here and is closed here
	cluster bool
	mutex   *actors.Kind
	counted atomic.Pointer[actors.System] // what telemetry counts: a collection may come while New still works

	closing sync.Once
	closed  error
}

// New connects to Redis and starts a runtime. The client option is rueidis' own:
// one address is a single server (or the seed of a cluster), Sentinel.MasterSet
// makes it Sentinel, TLSConfig TLS. Timeouts that were left at zero are set to
// what a lock needs (a rueidis default would wait 10 s for a frozen server).
//
// A server that cannot be reached is ErrUnavailable; options out of range are
// errors that name them.
func New(client rueidis.ClientOption, opts ...Option) (*Runtime, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{id: uuid.NewString(), cfg: cfg, client: cfg.client}
	if rt.client == nil {
		rt.owned = true
		if rt.client, err = rueidis.NewClient(lockTimeouts(client, cfg, rt.id)); err != nil {
			return nil, fmt.Errorf("%w: connect: %w", ErrUnavailable, err)
		}
	}
	if err := rt.start(); err != nil {
		if rt.owned {
			rt.client.Close()
		}
		return nil, err
	}
	return rt, nil
}

// Open is New for a URL: redis://user:password@host:port/db, rediss:// for TLS,
// or any other form that rueidis.ParseURL reads.
func Open(url string, opts ...Option) (*Runtime, error) {
	client, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("holdfast: redis url: %w", err)
	}
	return New(client, opts...)
}

// lockTimeouts fills in what the caller left open.
func lockTimeouts(o rueidis.ClientOption, cfg config, id string) rueidis.ClientOption {
	if o.ConnWriteTimeout == 0 {
		o.ConnWriteTimeout = 2 * cfg.commandTimeout()
	}
	if o.Dialer.Timeout == 0 {
		o.Dialer.Timeout = time.Second
	}
	if o.Dialer.KeepAlive == 0 && o.Dialer.KeepAliveConfig == (net.KeepAliveConfig{}) {
		o.Dialer.KeepAlive = time.Second // also rueidis' ping interval: finds a frozen server
	}
	if o.ClusterOption.ShardsRefreshInterval == 0 {
		o.ClusterOption.ShardsRefreshInterval = 5 * time.Second
	}
	if o.ClientName == "" {
		o.ClientName = "holdfast-" + id // CLIENT LIST then leads from an owner to an address
	}
	o.DisableCache = true // nothing here is cached, and some servers lack CLIENT TRACKING
	o.DisableRetry = true // a lost reply is settled by the actor, never by sending again
	return o
}

// start wires the rooms together.
func (rt *Runtime) start() error {
	rt.cluster = rt.client.Mode() == rueidis.ClientModeCluster
	redis, err := rediscmd.New(rediscmd.Config{
		Client:  rt.client,
		Cluster: rt.cluster,
		Timeout: rt.cfg.commandTimeout(),
		Logger:  rt.cfg.logger,
		OnBatch: func(n int) { rt.tel.Batch(n) },
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	rt.tel, err = telemetry.New(telemetry.Config{
		TracerProvider: rt.cfg.tracer,
		MeterProvider:  rt.cfg.meter,
		Counts:         func() telemetry.Counts { return rt.counts() },
	})
	if err == nil {
		rt.system, err = actors.New(actors.Config{
			ID:              rt.id,
			Redis:           redis,
			Telemetry:       rt.tel,
			Logger:          rt.cfg.logger,
			WatchdogTimeout: rt.cfg.watchdog,
			MaxWaiters:      rt.cfg.maxWaiters,
			MaxPending:      rt.cfg.maxPending,
			AlwaysYield:     rt.cluster && !redis.Sharded(),
			OnLost:          rt.cfg.onLost,
		})
	}
	if err != nil {
		redis.Close(context.Background())
		return errors.Join(err, rt.tel.Close())
	}
	rt.counted.Store(rt.system)
	rt.mutex = &actors.Kind{Name: "mutex", Reentrant: true, HandOff: true, Door: redis.Mutex()}
	return nil
}

func (rt *Runtime) counts() telemetry.Counts {
	if s := rt.counted.Load(); s != nil {
		return s.Counts()
	}
	return telemetry.Counts{}
}

// ID returns the runtime's uuid, the first part of its owners' wire form.
func (rt *Runtime) ID() string { return rt.id }

// NewOwner returns an owner that no other call of this runtime uses, for As and
// ContextWithOwner.
func (rt *Runtime) NewOwner() Owner { return rt.system.NewOwner() }

// Close stops intake, fails what waits with ErrClosed, releases every held lock
// and returns when nothing is left, or when ctx ends. What Redis had not
// confirmed by then ends with its lease; the error says so. Every call after
// Close is ErrClosed, and so is the cause of the holds that Close released.
// Further calls of Close wait for the first one and return its result. OnLost
// hooks that are still running are waited for, for 5 s at most.
func (rt *Runtime) Close(ctx context.Context) error {
	rt.closing.Do(func() {
		rt.closed = errors.Join(rt.system.Close(ctx), rt.tel.Close())
		if rt.owned {
			rt.client.Close()
		}
	})
	return rt.closed
}
