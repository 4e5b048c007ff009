package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
)

const (
	total    = 1000                   // futures
	items    = 95                     // locks that they are about, ten requests each
	patience = 400 * time.Millisecond // of those who wait in vain
	busyName = "async:busy"
)

// itemName is the lock of the i-th item; the one after the last is the busy one.
func itemName(i int) string {
	if i == items {
		return busyName
	}
	return fmt.Sprintf("async:item:%d", i)
}

var errNotNeeded = errors.New("somebody else did it")

// ask sends a thousand requests and waits for none: 950 for the items, and 50 for
// the busy lock with a bound on the wait, ten of which are taken back at once.
func ask(ctx context.Context, rt *holdfast.Runtime) []*future.Future[*holdfast.Hold] {
	jobs := make([]*future.Future[*holdfast.Hold], total)
	for i := range jobs {
		if i%20 != 0 {
			jobs[i] = rt.Lock(itemName(i % items)).LockAsync(ctx)
			continue
		}
		jobs[i] = rt.Lock(busyName).LockAsync(ctx, holdfast.WaitFor(patience))
		if i%100 == 0 {
			jobs[i].Cancel(errNotNeeded)
		}
	}
	return jobs
}

// tally counts how the requests ended.
type tally struct {
	granted, timedOut, canceled int

	inOrder bool           // requests for one name were granted in the order in which they were sent
	last    map[string]int // by name: the last request granted
}

// add counts the i-th request, and returns an error that nobody planned for.
func (t *tally) add(i int, hold *holdfast.Hold, err error) error {
	switch {
	case err == nil:
		t.granted++
		if last, ok := t.last[hold.Name()]; ok && last > i {
			t.inOrder = false
		}
		t.last[hold.Name()] = i
	case errors.Is(err, errNotNeeded):
		t.canceled++
	case errors.Is(err, holdfast.ErrNotAcquired):
		t.timedOut++
	default:
		return fmt.Errorf("request %d: %w", i, err)
	}
	return nil
}

func (t *tally) print() {
	fmt.Printf("%4d granted, first come first served on each lock: %t\n", t.granted, t.inOrder)
	fmt.Printf("%4d cancelled\n", t.canceled)
	fmt.Printf("%4d gave up after %v\n", t.timedOut, patience)
}
