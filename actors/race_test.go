package actors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// Everything at once, for the race detector.
func TestEverythingAtOnce(t *testing.T) {
	r := newRig(t, func(c *Config) { c.WatchdogTimeout = 240 * time.Millisecond })
	var wg sync.WaitGroup
	end := time.Now().Add(2 * time.Second)
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for time.Now().Before(end) {
				name := fmt.Sprint("n", rand.IntN(4))
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rand.IntN(40))*time.Millisecond)
				var mods []func(*AcquireArgs)
				if g%3 == 0 {
					mods = append(mods, leaseOf(time.Duration(10+rand.IntN(400))*time.Millisecond))
				}
				if g%2 == 0 {
					mods = append(mods, watched)
				}
				if g%4 == 0 {
					mods = append(mods, waitAtMost(20*time.Millisecond))
				}
				h := r.acquire(ctx, name, mods...)
				got, err := h.Await(ctx)
				if err == nil {
					var w2 sync.WaitGroup
					for _, f := range []func(){
						func() { got.Context() }, func() { got.Lost() }, func() { got.ValidFor() },
						func() { _ = got.Extend(ctx, 300*time.Millisecond) },
						func() { r.acquire(ctx, name, by(got.Owner()), asTry).Granted().Cancel(nil) },
						func() {
							if h2, err := r.acquire(ctx, name, by(got.Owner())).Await(ctx); err == nil {
								h2.Context()
								h2.UnlockAsync()
							}
						},
						func() {
							if rand.IntN(10) == 0 {
								r.ForceUnlock(r.kind, name)
							}
						},
						func() {
							time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond / time.Duration(1+rand.IntN(50)))
							got.UnlockAsync()
						},
					} {
						w2.Add(1)
						go func() { defer w2.Done(); f() }()
					}
					w2.Wait()
				}
				cancel()
			}
		}()
	}
	wg.Wait()
	r.wantEmpty()
}
