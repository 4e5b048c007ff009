package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
)

// inMemory starts a runtime on a Redis that lives in this process. A program has a
// server, and needs no more than
//
//	rt, err := holdfast.New(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
func inMemory() (rt *holdfast.Runtime, stop func()) {
	m, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	rt, err = holdfast.New(rueidis.ClientOption{
		InitAddress:       []string{m.Addr()},
		ForceSingleClient: true, // miniredis calls itself a cluster of one
		AlwaysRESP2:       true, // and subscribes by the old protocol only
	})
	if err != nil {
		panic(err)
	}
	return rt, func() {
		if err := rt.Close(context.Background()); err != nil {
			fmt.Println(err)
		}
		m.Close()
	}
}

func ExampleLock_Lock() {
	rt, stop := inMemory()
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // bounds the wait, not the hold
	defer cancel()
	hold, err := rt.Lock("order:42").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hold.Close()

	// Right before an effect that must not happen without the lock:
	if hold.ValidFor() < time.Second {
		fmt.Println("too late")
		return
	}
	fmt.Println("shipping", hold.Name())
	// Output: shipping order:42
}

func ExampleLock_TryLock() {
	rt, stop := inMemory()
	defer stop()
	ctx := context.Background()
	lock := rt.Lock("nightly-report")

	hold, err := lock.TryLock(ctx)
	fmt.Println("first:", hold != nil, err)

	_, err = lock.TryLock(ctx)
	if held, ok := errors.AsType[*holdfast.HeldError](err); ok {
		fmt.Println("second: held by the first:", held.Owner == hold.Owner())
	}

	fmt.Println("unlock:", hold.Unlock(ctx))
	fmt.Println("again:", hold.Unlock(ctx))
	// Output:
	// first: true <nil>
	// second: held by the first: true
	// unlock: <nil>
	// again: holdfast: lock not held
}

func ExampleLock_Do() {
	rt, stop := inMemory()
	defer stop()
	lock := rt.Lock("order:42")

	err := lock.Do(context.Background(), func(ctx context.Context) error {
		// ctx ends with cause ErrLost if the lock goes away. It carries the owner, so
		// that code further down may lock the same name again.
		return lock.Do(ctx, func(context.Context) error {
			st, err := lock.Inspect(ctx)
			fmt.Println("count:", st.Count)
			return err
		})
	})
	locked, _ := lock.IsLocked(context.Background())
	fmt.Println("error:", err, "locked:", locked)
	// Output:
	// count: 2
	// error: <nil> locked: false
}

func ExampleLock_LockAsync() {
	rt, stop := inMemory()
	defer stop()
	ctx := context.Background()
	lock := rt.Lock("order:42")

	first, _ := lock.Lock(ctx)
	second := lock.LockAsync(ctx) // returns at once and costs no goroutine
	fmt.Println("granted:", second.IsDone())

	first.UnlockAsync()
	hold, err := second.Get(ctx) // takes the hold: from now on it is renewed
	fmt.Println("granted:", hold.Name(), err)
	// Output:
	// granted: false
	// granted: order:42 <nil>
}

func ExampleLock_LockAsync_completed() {
	rt, stop := inMemory()
	defer stop()
	ctx := context.Background()

	busy, _ := rt.Lock("b").Lock(ctx)
	names := []string{"a", "b"}
	requests := make([]*future.Future[*holdfast.Hold], len(names))
	for i, name := range names {
		requests[i] = rt.Lock(name).LockAsync(ctx)
	}
	for i, f := range future.Completed(ctx, requests...) {
		hold, err := f.Get(ctx)
		if err != nil {
			fmt.Println(names[i], err)
			continue
		}
		fmt.Println("working on", hold.Name())
		hold.Close()
		busy.Close() // and now the other one
	}
	// Output:
	// working on a
	// working on b
}

func ExampleAs() {
	rt, stop := inMemory()
	defer stop()
	ctx := context.Background()
	lock := rt.Lock("order:42")

	owner := rt.NewOwner() // one job, several calls, maybe several goroutines
	first, _ := lock.Lock(ctx, holdfast.As(owner))
	second, _ := lock.Lock(ctx, holdfast.As(owner))
	fmt.Println(first.Count(), second.Count())

	_, err := lock.TryLock(ctx) // somebody else
	fmt.Println(errors.Is(err, holdfast.ErrNotAcquired))
	// Output:
	// 1 2
	// true
}

func ExampleContextWithoutOwner() {
	rt, stop := inMemory()
	defer stop()
	lock := rt.Lock("order:42")

	err := lock.Do(context.Background(), func(ctx context.Context) error {
		again, err := lock.TryLock(ctx) // the same owner goes in again
		if err != nil {
			return err
		}
		defer again.Close()

		// A goroutine that gets ctx would do the same. One that must be excluded gets:
		_, err = lock.TryLock(holdfast.ContextWithoutOwner(ctx))
		fmt.Println("excluded:", errors.Is(err, holdfast.ErrNotAcquired))
		return nil
	})
	fmt.Println(err)
	// Output:
	// excluded: true
	// <nil>
}
