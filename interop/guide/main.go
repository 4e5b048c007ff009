// Command guide is the Go program of docs/REDISSON.md: it takes a hundred items
// out of a stock that a Java service takes from as well.
package main

import (
	"context"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string) error {
	option, err := rueidis.ParseURL(url)
	if err != nil {
		return err
	}
	redis, err := rueidis.NewClient(option)
	if err != nil {
		return err
	}
	defer redis.Close()
	rt, err := holdfast.New(option)
	if err != nil {
		return err
	}
	defer rt.Close(ctx)

	lock := rt.Lock("stock:42:lock")
	for range 100 {
		// No LeaseFor: the watchdog renews. ctx ends if the lock is lost.
		err := lock.Do(ctx, func(ctx context.Context) error {
			n, err := redis.Do(ctx, redis.B().Get().Key("stock:42").Build()).AsInt64()
			if err != nil {
				return err
			}
			return redis.Do(ctx, redis.B().Set().Key("stock:42").Value(strconv.FormatInt(n-1, 10)).Build()).Error()
		}, holdfast.WaitFor(30*time.Second))
		if err != nil {
			return err
		}
	}
	return nil
}
