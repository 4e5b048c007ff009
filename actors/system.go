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
	s.table = newTable(s.pool, s.newCell)
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

// AcquireArgs is one acquire, validated by the facade.
type AcquireArgs struct {
	Kind  *Kind
	Name  string // as the user says it
	Key   string // as Redis has it
	Owner Owner  // zero: a fresh one
	Lease time.Duration
	Wait  time.Duration // bound of the wait; 0: only ctx bounds it
	Try   bool
	Watch bool // cancel the request when ctx ends (the async forms; a blocking caller watches ctx itself, and attends)
}

// Acquire posts a request and returns it; its future is Hold.Granted. It never
// blocks. An ended ctx sends nothing.
func (s *System) Acquire(ctx context.Context, a AcquireArgs) *Hold {
	h := &Hold{sys: s, key: key{a.Key, a.Kind}, parent: ctx}
	if a.Name != a.Key {
		h.more().name = a.Name
	}
	h.hold, h.kind, h.try = h, callAcquire, a.Try
	h.owner, h.shared = a.Owner, !a.Owner.IsZero()
	if !h.shared {
		h.owner = s.NewOwner()
	}
	if h.lease = a.Lease; h.lease == 0 {
		h.lease, h.watchdog = s.rules.watchdog, true
	}
	h.timer.Value = h
	h.promise.Init(h)
	h.since, h.wait = s.wheel.Now(), a.Wait
	h.message = message{kind: evCall, about: &h.call}
	h.record = s.traceAcquire(ctx, h, &a) || a.Try || a.Wait > 0

	if n := s.pending.Add(1); n > s.maxPending {
		h.fail(&OverloadError{Limit: int(s.maxPending), Scope: "unsettled acquires of the runtime"}, nil)
		return h
	}
	if ctx.Err() != nil {
		h.dropped()
		h.promise.Future().Cancel(abandoned(ctx, nil))
		return h
	}
	if a.Watch && ctx.Done() != nil {
		h.hook(ctx)
	}
	attend := time.Duration(0)
	if !a.Watch {
		attend = canWait(ctx, a.Wait)
	}
	if !s.post(h.key, &h.message, attend) {
		h.fail(ErrClosed, nil)
	}
	return h
}

// traceAcquire starts the span of a request and reports whether there is one.
func (s *System) traceAcquire(ctx context.Context, h *Hold, a *AcquireArgs) bool {
	if !s.tel.Traces(ctx) {
		return false
	}
	mode := telemetry.ModeLock
	switch {
	case a.Try:
		mode = telemetry.ModeTry
	case a.Wait > 0:
		mode = telemetry.ModeTimed
	}
	x := h.more()
	x.owner = h.owner.String()
	s.tel.StartAcquire(ctx, &x.acquire, telemetry.AcquireInfo{Name: a.Name, Kind: a.Kind.Name, Mode: mode, Owner: x.owner})
	return x.acquire.Recording()
}

// hook cancels the request when ctx ends. The stop function is stored before the
// request is posted, so whoever settles it sees it.
func (h *Hold) hook(ctx context.Context) { h.unhook = context.AfterFunc(ctx, h.parentEnded) }

// post delivers a call. A caller that is going to wait for its outcome attends: it
// carries the command to Redis itself if nobody else is on the way, and comes back
// with the answer, or when its patience is over.
func (s *System) post(k key, m *message, attend time.Duration) bool {
	if attend <= 0 {
		return s.table.post(k, m)
	}
	guest := s.redis.Announce(k.name, attend)
	defer guest.Serve()
	return s.table.post(k, m)
}

// canWait is how long a caller can wait for the answer to one command: until its
// ctx ends, or its WaitFor bound. A ctx that is canceled before its deadline is only
// seen when Redis has answered, or the command's own time is up.
func canWait(ctx context.Context, wait time.Duration) time.Duration {
	d := never
	if wait > 0 {
		d = wait
	}
	if end, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(end))
	}
	return d
}

// Await is the blocking form of the request: it waits for the grant until ctx
// ends, and then gives the request up. A grant that is ready wins.
func (h *Hold) Await(ctx context.Context) (*Hold, error) {
	f := h.promise.Future()
	got, err := f.Get(ctx)
	if err == nil || f.IsDone() {
		if err != nil {
			got, err, _ = f.TryGet()
		}
		return got, err
	}
	f.Cancel(abandoned(ctx, h.trouble()))
	got, err, _ = f.TryGet()
	return got, err
}

// ForceUnlock deletes the lock whoever holds it, and wakes every waiter.
func (s *System) ForceUnlock(k *Kind, name string) *future.Future[bool] {
	o := &order{call: call{kind: callForce}}
	o.duty, o.task.after = &o.task, o
	o.message = message{kind: evCall, about: &o.call}
	if !s.table.post(key{name, k}, &o.message) {
		o.settle(false, ErrClosed)
	}
	return o.promise.Future()
}

// order is a forced unlock on its way.
type order struct {
	call
	task    duty
	promise future.Promise[bool]
}

func (o *order) settle(did bool, err error) { o.promise.Settle(did, err) }

// troubleOf returns the last server error that the waiters of a name have met.
func (s *System) troubleOf(k key) error {
	sh := s.table.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if c := sh.cells[k]; c != nil {
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
