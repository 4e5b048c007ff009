// Quickstart shows what a lock does in its life: taken, re-entered, waited for,
// renewed, lost, closed. It needs no server:
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -redis 127.0.0.1:6379
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/examples/internal/demo"
)

const (
	name  = "quickstart:order:42"
	lease = 1500 * time.Millisecond // short, to see it being renewed; the default is 30 s
)

func main() {
	addr := flag.String("redis", "", "`address` of a Redis server; empty: one inside this process")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *addr); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
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

	losses := make(chan holdfast.LostInfo, 1)
	rt, err := holdfast.New(redis.Option(),
		holdfast.WithWatchdogTimeout(lease),
		holdfast.WithOnLost(func(l holdfast.LostInfo) { losses <- l }))
	if err != nil {
		return err
	}
	defer rt.Close(ctx)
	operator, err := rueidis.NewClient(redis.Option()) // somebody with redis-cli
	if err != nil {
		return err
	}
	defer operator.Close()

	fmt.Println("holdfast quickstart on", redis)
	s := &story{rt: rt, lock: rt.Lock(name), operator: operator, losses: losses}
	for _, chapter := range []func(context.Context) error{s.contend, s.renew, s.lose, s.close} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}
