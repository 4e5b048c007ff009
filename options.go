package holdfast

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/rueidis"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-go/holdfast/actors"
)

// Option configures a Runtime.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	client     rueidis.Client
	watchdog   time.Duration
	logger     *slog.Logger
	tracer     trace.TracerProvider
	meter      metric.MeterProvider
	mapper     func(string) string
	onLost     func(LostInfo)
	maxWaiters int
	maxPending int
}

// DefaultWatchdogTimeout is Redisson's lockWatchdogTimeout.
const DefaultWatchdogTimeout = 30 * time.Second

// minWatchdogTimeout leaves a third of the lease above the timing wheel's and a
// loopback round trip's granularity.
const minWatchdogTimeout = 60 * time.Millisecond

func newConfig(opts []Option) (config, error) {
	c := config{
		watchdog:   DefaultWatchdogTimeout,
		logger:     slog.New(slog.DiscardHandler),
		maxWaiters: 1 << 17,
		maxPending: 1 << 20,
	}
	for _, o := range opts {
		if o != nil {
			o.apply(&c)
		}
	}
	if c.watchdog < minWatchdogTimeout || c.watchdog > actors.MaxLease {
		return c, fmt.Errorf("%w: watchdog timeout %v is not within %v and %v", ErrInvalidLease, c.watchdog, minWatchdogTimeout, actors.MaxLease)
	}
	if c.maxWaiters < 1 || c.maxPending < 1 {
		return c, fmt.Errorf("holdfast: limits must be at least 1, not %d and %d", c.maxWaiters, c.maxPending)
	}
	c.watchdog = (c.watchdog + time.Millisecond - 1).Truncate(time.Millisecond)
	return c, nil
}

// commandTimeout is how long one command may take before its outcome counts as
// unknown: a tenth of the lease, so that a renewal can be tried again several
// times, and a second at most (design section 7). Short leases get a floor that
// a busy machine can meet, which never exceeds a third of the lease.
func (c config) commandTimeout() time.Duration {
	return min(max(c.watchdog/10, min(100*time.Millisecond, c.watchdog/3)), time.Second)
}

// WithClient makes the runtime use a client that exists already; New's client
// option is ignored. The runtime does not close it. Its own timeouts and retry
// settings are kept: see New for the values that suit a lock.
func WithClient(client rueidis.Client) Option {
	return option(func(c *config) { c.client = client })
}

// WithWatchdogTimeout sets the lease of holds without LeaseFor, and thereby the
// renewal period, a third of it. Default 30 s, at least 60 ms. Redisson calls it
// lockWatchdogTimeout; the two sides need not agree.
func WithWatchdogTimeout(d time.Duration) Option {
	return option(func(c *config) { c.watchdog = d })
}

// WithLogger sets where losses and trouble with subscriptions (Warn) and internal
// errors (Error) are logged. Default: nowhere.
func WithLogger(l *slog.Logger) Option {
	return option(func(c *config) {
		if l != nil {
			c.logger = l
		}
	})
}

// WithTracerProvider turns on the acquire and hold spans of package telemetry.
// Without it the global provider is used, for calls whose ctx carries a sampled
// span.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) { c.tracer = p })
}

// WithMeterProvider sets where metrics go. Default: the global provider.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(c *config) { c.meter = p })
}

// WithNameMapper maps lock names to keys, as Redisson's NameMapper does: to give
// them a prefix, say. Errors, spans and LostInfo keep the name as it was given. f
// is called by Runtime.Lock, from any goroutine, and must always give the same
// answer.
func WithNameMapper(f func(name string) string) Option {
	return option(func(c *config) { c.mapper = f })
}

// WithOnLost sets a hook that is told of every hold that was lost, after the
// hold's context has ended. Hooks run one at a time, off every lock's path; one
// that blocks delays the others. Close waits for hooks, so a hook that calls it
// makes it take 5 s: close from elsewhere.
func WithOnLost(f func(LostInfo)) Option {
	return option(func(c *config) { c.onLost = f })
}

// WithMaxWaiters bounds the acquires that wait for one name in this runtime;
// more are ErrOverloaded. Default 131072. With 1024 commands under way an acquire is
// counted when there is room for its own.
func WithMaxWaiters(n int) Option {
	return option(func(c *config) { c.maxWaiters = n })
}

// WithMaxPending bounds the acquires that are not settled, over all names; more
// are ErrOverloaded. Default 1048576.
func WithMaxPending(n int) Option {
	return option(func(c *config) { c.maxPending = n })
}

// LockOption configures one acquire.
type LockOption interface{ applyLock(*lockConfig) }

type lockOption func(*lockConfig)

func (o lockOption) applyLock(c *lockConfig) { o(c) }

type lockConfig struct {
	lease    time.Duration
	hasLease bool
	wait     time.Duration
	hasWait  bool
	owner    Owner

	onAcquired func(*Hold)
	onReleased func(*Hold, error)
}

// WaitFor bounds the wait, and only the wait; ErrNotAcquired when it is over. A
// bound of zero or less makes the call a single attempt, as in Redisson.
func WaitFor(d time.Duration) LockOption {
	return lockOption(func(c *lockConfig) { c.wait, c.hasWait = d, true })
}

// LeaseFor makes the hold end by itself after d, without a watchdog, unless it is
// unlocked or extended before. d is rounded up to whole milliseconds and must be
// within [10 ms, 2^40 ms], or the call is ErrInvalidLease.
//
// A lease belongs to the owner, as the TTL does in Redis: an owner that holds
// several levels keeps the lock as long as the longest of their leases, and the
// watchdog runs while any level has none.
func LeaseFor(d time.Duration) LockOption {
	return lockOption(func(c *lockConfig) { c.lease, c.hasLease = d, true })
}

// As makes owner the one who acquires, whatever the ctx carries. An owner of
// another runtime is ErrInvalidOwner.
func As(owner Owner) LockOption {
	return lockOption(func(c *lockConfig) { c.owner = owner })
}

// OnAcquired is called by Do with the hold, before its function runs, on the same
// goroutine. Other calls ignore it.
func OnAcquired(f func(*Hold)) LockOption {
	return lockOption(func(c *lockConfig) { c.onAcquired = f })
}

// OnReleased is called by Do after the unlock, with its error, on the goroutine
// that called Do. Other calls ignore it.
func OnReleased(f func(*Hold, error)) LockOption {
	return lockOption(func(c *lockConfig) { c.onReleased = f })
}
