package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
)

// story is the quickstart's cast: two workers, ada and grace, share one runtime
// and one lock; the operator has access to Redis.
type story struct {
	rt       *holdfast.Runtime
	lock     *holdfast.Lock
	operator rueidis.Client
	losses   <-chan holdfast.LostInfo
}

func chapter(title string) { fmt.Println("\n" + title) }

func say(who, format string, args ...any) {
	fmt.Printf("  %-9s"+format+"\n", append([]any{who}, args...)...)
}

// contend: one holder, who may come in again; others wait, as long as they like.
func (s *story) contend(ctx context.Context) error {
	chapter("1. Two workers want " + s.lock.Name())
	ada, err := s.lock.Lock(ctx)
	if err != nil {
		return err
	}
	say("ada", "has the lock, count %d", ada.Count())

	again, err := s.lock.Lock(ada.Context()) // that context carries ada, so this is no wait for herself
	if err != nil {
		return err
	}
	say("ada", "has it once more, count %d", again.Count())

	const patience = 300 * time.Millisecond
	_, err = s.lock.Lock(ctx, holdfast.WaitFor(patience))
	held, ok := errors.AsType[*holdfast.HeldError](err) // it is an ErrNotAcquired, too
	if !ok {
		return fmt.Errorf("a bounded wait for a held lock ended with %v", err)
	}
	say("grace", "gives up after %v, and reads who has it: ada, %t", patience, held.Owner == ada.Owner())

	grace := s.lock.LockAsync(ctx) // a future: grace waits, and no goroutine does
	say("grace", "waits in line")
	if err := errors.Join(again.Unlock(ctx), ada.Unlock(ctx)); err != nil {
		return err
	}
	say("ada", "unlocks twice")
	hold, err := grace.Get(ctx)
	if err != nil {
		return err
	}
	say("grace", "has the lock, count %d", hold.Count())
	return hold.Unlock(ctx)
}

// renew: the lease is short, the work is long, and nobody has to think of it.
func (s *story) renew(ctx context.Context) error {
	chapter(fmt.Sprintf("2. A lease of %v, and work of %v", lease, 2*lease))
	hold, err := s.lock.Lock(ctx)
	if err != nil {
		return err
	}
	defer hold.Close()
	say("ada", "works")
	select {
	case <-time.After(2 * lease):
	case <-hold.Context().Done():
		return context.Cause(hold.Context())
	}
	ttl, err := s.lock.RemainingTTL(ctx)
	if err != nil {
		return err
	}
	say("ada", "is done and still has the lock: %t", hold.ValidFor() > 0)
	say("redis", "would keep it for another %v", ttl.Round(100*time.Millisecond))
	return hold.Unlock(ctx)
}

// lose: a lock can go away under its holder, who is told by the context.
func (s *story) lose(ctx context.Context) error {
	chapter("3. A lock is lost")
	err := s.lock.Do(ctx, func(ctx context.Context) error {
		say("ada", "works under lock.Do")
		if err := s.operator.Do(ctx, s.operator.B().Del().Key(name).Build()).Error(); err != nil {
			return err
		}
		say("operator", "deletes the key")
		<-ctx.Done()
		say("ada", "stops, her ctx ended: %v", context.Cause(ctx))
		return nil
	})
	if !errors.Is(err, holdfast.ErrLost) {
		return fmt.Errorf("under a lost lock Do returned %v", err)
	}
	say("ada", "gets ErrLost from lock.Do")
	select {
	case l := <-s.losses:
		say("OnLost", "hears of %s, reason %s", l.Name, l.Reason)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// close: whatever is open is given back, whoever waits is told.
func (s *story) close(ctx context.Context) error {
	chapter("4. The runtime closes")
	hold, err := s.lock.Lock(ctx)
	if err != nil {
		return err
	}
	say("ada", "has the lock")
	waiting := s.lock.LockAsync(ctx)
	say("grace", "waits in line")
	if err := s.rt.Close(ctx); err != nil {
		return err
	}
	say("ada", "is told: %v", context.Cause(hold.Context()))
	_, err = waiting.Get(ctx)
	say("grace", "is told: %v", err)
	left, err := s.operator.Do(ctx, s.operator.B().Exists().Key(name).Build()).AsInt64()
	if err != nil {
		return err
	}
	say("redis", "has %d keys left of it", left)
	return nil
}
