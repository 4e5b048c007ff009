package peer

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// closeWait bounds how long a runtime may take to release what it holds.
const closeWait = 30 * time.Second

// Runtime is holdfast as New gives it, for works that use its futures too.
type Runtime struct {
	*holdfast.Runtime
	ctx  context.Context
	stop func() error
}

// OpenRuntime starts a runtime with the telemetry that the job asks for.
func OpenRuntime(ctx context.Context, job wire.Job) (*Runtime, error) {
	tel, err := newTelemetry(ctx, job.Telemetry)
	if err != nil {
		return nil, err
	}
	opts := append(tel.options, holdfast.WithWatchdogTimeout(lease(job)))
	rt, err := holdfast.New(rueidis.ClientOption{InitAddress: []string{job.Addr}}, opts...)
	if err != nil {
		return nil, errors.Join(err, tel.stop())
	}
	return &Runtime{Runtime: rt, ctx: tel.ctx, stop: tel.stop}, nil
}

func openHoldfast(ctx context.Context, job wire.Job) (System, error) {
	return OpenRuntime(ctx, job)
}

// Context implements System: it carries the caller's span, if there is telemetry.
func (r *Runtime) Context() context.Context { return r.ctx }

// Slot implements System.
func (r *Runtime) Slot(name string) Slot { return &holdfastSlot{lock: r.Lock(name)} }

// Close implements System.
func (r *Runtime) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return errors.Join(r.Runtime.Close(ctx), r.stop())
}

type holdfastSlot struct {
	lock *holdfast.Lock
	hold *holdfast.Hold
}

func (s *holdfastSlot) Lock(ctx context.Context) (err error) {
	s.hold, err = s.lock.Lock(ctx)
	return err
}

func (s *holdfastSlot) Unlock(ctx context.Context) error { return s.hold.Unlock(ctx) }
