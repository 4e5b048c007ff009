// Async asks for a thousand locks at once and takes the answers in the order in
// which they come. No goroutine waits for any of them.
//
//	go run ./examples/async
//	go run ./examples/async -redis 127.0.0.1:6379
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/examples/internal/demo"
	"github.com/holdfast-go/holdfast/future"
)

func main() {
	addr := flag.String("redis", "", "`address` of a Redis server; empty: one inside this process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr); err != nil {
		fmt.Fprintln(os.Stderr, "async:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 12*time.Second)
	defer cancel()
	redis, err := demo.Open(addr)
	if err != nil {
		return err
	}
	defer redis.Close()
	rt, err := holdfast.New(redis.Option())
	if err != nil {
		return err
	}
	defer rt.Close(ctx)
	fmt.Println("holdfast async on", redis)

	// Somebody has this one and keeps it: who asks for it waits in vain.
	busy, err := rt.Lock(busyName).Lock(ctx)
	if err != nil {
		return err
	}
	before := runtime.NumGoroutine()
	jobs := ask(ctx, rt)
	fmt.Printf("%d futures on %d locks, %d more goroutines\n", len(jobs), items+1, max(0, runtime.NumGoroutine()-before))

	t, err := collect(ctx, jobs)
	if err != nil {
		return err
	}
	t.print()
	if err := busy.Unlock(ctx); err != nil {
		return err
	}
	locked, err := countLocked(ctx, rt)
	if err != nil {
		return err
	}
	fmt.Printf("%4d locks still held\n", locked)
	return nil
}

// countLocked asks Redis what is left.
func countLocked(ctx context.Context, rt *holdfast.Runtime) (n int, err error) {
	for i := range items + 1 {
		locked, lockErr := rt.Lock(itemName(i)).IsLocked(ctx)
		if locked {
			n++
		}
		err = errors.Join(err, lockErr)
	}
	return n, err
}

// collect takes each hold as it is granted, works on its item and lets it go.
func collect(ctx context.Context, jobs []*future.Future[*holdfast.Hold]) (*tally, error) {
	t := &tally{inOrder: true, last: map[string]int{}}
	var unlocks []*future.Future[struct{}]
	for i, f := range future.Completed(ctx, jobs...) {
		hold, err, _ := f.TryGet() // done, so there is nothing to wait for; taking the hold claims it
		if err := t.add(i, hold, err); err != nil {
			return nil, err
		}
		if err == nil {
			unlocks = append(unlocks, hold.UnlockAsync()) // the next in line gets the lock in the same round trip
		}
	}
	if _, err := future.All(ctx, unlocks...); err != nil {
		return nil, err
	}
	return t, nil
}
