package actors

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd"
	"github.com/holdfast-go/holdfast/telemetry"
	"github.com/holdfast-go/holdfast/wheel"
)

// Config is what a System is made of. All fields but the optional ones are set
// by the facade. System.Close closes Redis, whose replies it waits for; Telemetry
// is the facade's to close, afterwards.
type Config struct {
	ID              string // the runtime's uuid
	Redis           *rediscmd.Client
	Telemetry       *telemetry.Recorder
	Logger          *slog.Logger
	WatchdogTimeout time.Duration
	MaxWaiters      int            // waiting acquires of one name
	MaxPending      int            // unsettled acquires of the runtime
	AlwaysYield     bool           // listeners on other nodes cannot be counted (cluster without sharded pub/sub)
	OnLost          func(LostInfo) // optional
}

// LostInfo says which hold was lost, and why.
type LostInfo struct {
	Name   string
	Owner  Owner
	Count  int    // the level that was lost
	Reason string // expired; gone (deleted or taken over in Redis); force_unlocked (through this runtime)
	Err    error  // the renewals' last error, for expired
}

// System runs the actors of one runtime. It is safe for concurrent use.
type System struct {
	id     string
	prefix string                // of its owners' texts
	owner  unique.Handle[string] // the runtime part of its owners
	redis  *rediscmd.Client
	tel    *telemetry.Recorder
	log    *slog.Logger
	onLost func(LostInfo)
	rules  rules
	kinds  [4]rules // as lock kinds vary them: see rulesOf
	wheel  *wheel.Wheel[timed]
	slot   time.Duration // the wheel's granularity
	base   time.Time
	pool   *activations
	table  *table
	notes  notifier

	maxPending int64
	owners     atomic.Uint64
	seed       atomic.Uint64
	looked     atomic.Int64 // keeps what warm reads from being optimized away

	admission admission

	pending, waiting, held, unclaimed, inFlight atomic.Int64
}

// engine is the protoactor system that every runtime of the process shares: it
// costs 2.9 MB and holds no state of ours. Actors are anonymous in it.
var engine = sync.OnceValue(func() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler) // its log prints messages whole
	}))
})

// New starts a System. Its goroutines are the wheel's; actors run on whoever
// brings them a message.
func New(cfg Config) (*System, error) {
	s := &System{
		id: cfg.ID, prefix: cfg.ID + ":", owner: unique.Make(cfg.ID), redis: cfg.Redis, tel: cfg.Telemetry, log: cfg.Logger, onLost: cfg.OnLost,
		base: time.Now(), maxPending: int64(cfg.MaxPending),
		rules: rules{
			watchdog:   cfg.WatchdogTimeout,
			poll:       min(cfg.WatchdogTimeout/3, 10*time.Second),
			maxWaiters: cfg.MaxWaiters,
			reentrant:  true,
			handOff:    true,
			runLength:  64,
			runTime:    50 * time.Millisecond,
			alwaysGive: cfg.AlwaysYield,
			courtesy:   2 * time.Millisecond,
			standBack:  250 * time.Millisecond,
		},
	}
	for i := range s.kinds {
		s.kinds[i] = s.rules
		s.kinds[i].reentrant, s.kinds[i].handOff = i&1 != 0, i&2 != 0
	}
	s.seed.Store(uint64(s.base.UnixNano()))
	s.slot = min(max(cfg.WatchdogTimeout/60, 4*time.Millisecond), 100*time.Millisecond)
	var err error
	s.wheel, err = wheel.New(wheel.Config[timed]{
		Granularity: s.slot,
		Base:        s.base,
		Handler:     s.onWheel,
		Lag:         s.tel.TimerLag,
	})
	if err != nil {
		return nil, fmt.Errorf("holdfast: timing wheel: %w", err)
	}
	s.pool = newActivations(engine().Root, s.wheel)
	s.table = newTable(s.pool, s.newCell, s.admit)
	s.admission.limit(cfg.Redis.Capacity())
	return s, nil
}

// NewOwner returns an owner that no other call of this runtime uses.
func (s *System) NewOwner() Owner { return newOwner(s.owner, s.owners.Add(1)) }

// rulesOf returns the rules of a kind of lock.
func (s *System) rulesOf(k *Kind) *rules {
	i := 0
	if k.Reentrant {
		i |= 1
	}
	if k.HandOff {
		i |= 2
	}
	return &s.kinds[i]
}

// ForceUnlock deletes the lock whoever holds it, and wakes every waiter.
func (s *System) ForceUnlock(k *Kind, name string) *future.Future[bool] {
	o := &order{call: call{kind: callForce}}
	o.duty, o.task.after = &o.task, o
	o.message = message{kind: evCall, about: &o.call}
	if !s.table.post(key{name, k}, &o.message) {
		o.promise.Settle(false, ErrClosed)
	}
	return o.promise.Future()
}

// order is a forced unlock on its way.
type order struct {
	call
	task    duty
	promise future.Promise[bool]
}

// settle implements settler.
func (o *order) settle(did bool, err error, _ time.Duration) { o.promise.Settle(did, err) }

// troubleOf returns the last server error that the waiters of a name have met.
func (s *System) troubleOf(k key) error {
	c, sh := s.table.at(k)
	defer sh.mu.Unlock()
	if c != nil {
		return c.lastTrouble()
	}
	return nil
}

// Counts is what telemetry's observable counters read.
func (s *System) Counts() telemetry.Counts {
	_, bound := s.pool.live()
	waiting := s.waiting.Load()
	return telemetry.Counts{
		Held: s.held.Load(), Queued: max(0, s.pending.Load()-waiting), Waiting: waiting,
		InFlight: s.inFlight.Load(), Unclaimed: s.unclaimed.Load(), Actors: int64(bound),
	}
}

// wall is the wall-clock time of a reading of the runtime's clock.
func (s *System) wall(at time.Duration) time.Time { return s.base.Add(at) }

// Close fails what waits with ErrClosed, releases what is held, and stops. When
// ctx ends before Redis has answered, what is left is given up: those locks end
// with their leases, and the error says how many names were affected.
func (s *System) Close(ctx context.Context) error {
	s.table.close()
	s.dismiss()
	var err error
	select {
	case <-s.table.empty:
	case <-ctx.Done():
		err = fmt.Errorf("%w: %d lock names not released: %w", ErrUnavailable, s.table.n.Load(), context.Cause(ctx))
		s.table.close()
	}
	if e := s.redis.Close(ctx); err == nil { // answers what is in flight
		err = e
	}
	bounded, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	s.wheel.Stop(bounded) // a hung library or handler cannot be stopped
	s.pool.close()
	s.notes.wait(bounded) // a hook that blocks, or that called Close, cannot be waited for
	return err
}
