package peer

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// Slot is one caller with one lock. It locks and unlocks in turn, from one
// goroutine at a time, and keeps what is between the two.
type Slot interface {
	// Lock waits until the lock is granted, or ctx ends.
	Lock(ctx context.Context) error
	// Unlock gives it back and waits for the answer.
	Unlock(ctx context.Context) error
}

// System is a client of one lock implementation, as a program has it once.
type System interface {
	// Context is what the callers of the job use.
	Context() context.Context
	// Slot makes a caller of a name.
	Slot(name string) Slot
	// Close gives back all connections.
	Close() error
}

// Open builds the system of a job, and returns when it can be used.
func Open(ctx context.Context, job wire.Job) (System, error) {
	var s System
	var err error
	switch job.System {
	case wire.Holdfast:
		s, err = openHoldfast(ctx, job)
	case wire.Rueidislock:
		s, err = openRueidislock(ctx, job)
	case wire.Redsync, wire.RedsyncPiped:
		s, err = openRedsync(ctx, job)
	case wire.Redislock, wire.RedislockPiped:
		s, err = openRedislock(ctx, job)
	default:
		return nil, fmt.Errorf("there is no blocking system %q", job.System)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", job.System, err)
	}
	return s, nil
}

// lease is how long a lock lives without renewal: holdfast's default for all.
func lease(job wire.Job) time.Duration {
	if job.Lease > 0 {
		return time.Duration(job.Lease) * time.Millisecond
	}
	return 30 * time.Second
}
