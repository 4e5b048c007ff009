package peer

import (
	"context"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// OpenLocker builds rueidislock for one server: one key per lock (KeyMajority 1;
// its default of 2 keeps three keys for every lock, all on that same server), and
// NOLOOP tracking, without which a held lock's own renewals wake it in a loop.
//
// TryNextAfter is not a retry delay but the time limit of one attempt. Its 20 ms
// are too short for a saturated machine: attempts fail that were granted, and with
// NOLOOP nothing tells the caller that the key is gone again.
func OpenLocker(job wire.Job) (rueidislock.Locker, error) {
	validity := lease(job)
	interval := validity / 3
	if job.Interval > 0 {
		interval = time.Duration(job.Interval) * time.Millisecond
	}
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{job.Addr}},
		KeyPrefix:      "rueidislock",
		KeyValidity:    validity,
		ExtendInterval: interval,
		TryNextAfter:   time.Duration(job.Knob("tryms", 30_000)) * time.Millisecond,
		KeyMajority:    1,
		NoLoopTracking: true,
	})
}

type rueidislockSystem struct {
	ctx    context.Context
	locker rueidislock.Locker
}

func openRueidislock(ctx context.Context, job wire.Job) (System, error) {
	locker, err := OpenLocker(job)
	if err != nil {
		return nil, err
	}
	return &rueidislockSystem{ctx, locker}, nil
}

func (s *rueidislockSystem) Context() context.Context { return s.ctx }

func (s *rueidislockSystem) Slot(name string) Slot {
	return &rueidislockSlot{locker: s.locker, name: name}
}

func (s *rueidislockSystem) Close() error {
	s.locker.Close()
	return nil
}

type rueidislockSlot struct {
	locker rueidislock.Locker
	name   string
	cancel context.CancelFunc
}

func (s *rueidislockSlot) Lock(ctx context.Context) (err error) {
	_, s.cancel, err = s.locker.WithContext(ctx, s.name)
	return err
}

// Unlock waits for the answer, as the CancelFunc does, which does not tell it.
func (s *rueidislockSlot) Unlock(context.Context) error {
	s.cancel()
	return nil
}
