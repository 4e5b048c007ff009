package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
)

// The Go process that can be killed: the test binary, told by these to speak the
// Java program's protocol instead of running tests. It knows as much of it as the
// cases need: id, lock, storm.
const (
	goPeerEnv     = "HOLDFAST_INTEROP_PEER" // redis://host:port
	goWatchdogEnv = "HOLDFAST_INTEROP_WATCHDOG"
)

func goPeer(url string) int {
	say := func(r reply) {
		line, _ := json.Marshal(r)
		fmt.Println(string(line))
	}
	watchdog, err := time.ParseDuration(os.Getenv(goWatchdogEnv))
	if err != nil {
		say(reply{Error: err.Error()})
		return 1
	}
	rt, err := holdfast.Open(url, holdfast.WithWatchdogTimeout(watchdog))
	if err != nil {
		say(reply{Error: err.Error()})
		return 1
	}
	option, err := rueidis.ParseURL(url)
	if err != nil {
		say(reply{Error: err.Error()})
		return 1
	}
	client, err := rueidis.NewClient(option)
	if err != nil {
		say(reply{Error: err.Error()})
		return 1
	}
	say(reply{Ready: true, UUID: rt.ID()})

	owners := map[string]holdfast.Owner{}
	var speak sync.Mutex
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return 1
		}
		owner, ok := owners[r.Thread]
		if !ok {
			owner = rt.NewOwner()
			owners[r.Thread] = owner
		}
		go func() {
			a := reply{ID: r.ID, OK: true}
			v, err := goRun(rt, client, owner, r)
			if a.Value = v; err != nil {
				a = reply{ID: r.ID, Error: "error", Message: err.Error()}
			}
			speak.Lock()
			defer speak.Unlock()
			say(a)
		}()
	}
	return 0
}

func goRun(rt *holdfast.Runtime, client rueidis.Client, owner holdfast.Owner, r request) (any, error) {
	ctx := context.Background()
	switch r.Cmd {
	case "id":
		return owner.String(), nil
	case "lock":
		opts := []holdfast.LockOption{holdfast.As(owner)}
		if r.Lease > 0 {
			opts = append(opts, holdfast.LeaseFor(time.Duration(r.Lease)*time.Millisecond))
		}
		_, err := rt.Lock(r.Name).Lock(ctx, opts...)
		return err == nil, err
	case "storm":
		return goStorm(rt, client, r)
	default:
		return nil, errors.New("unknown command " + r.Cmd)
	}
}

// goStorm is Storm.java's run.
func goStorm(rt *holdfast.Runtime, client rueidis.Client, r request) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Wait)*time.Millisecond)
	defer cancel()
	lock := rt.Lock(r.Name)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total int64
		first error
	)
	for range r.Workers {
		wg.Go(func() {
			n, err := goWorker(ctx, lock, client, r.Counter)
			mu.Lock()
			defer mu.Unlock()
			total += n
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return total, first
}

func goWorker(ctx context.Context, lock *holdfast.Lock, client rueidis.Client, counter string) (sections int64, err error) {
	for {
		h, err := lock.Lock(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return sections, nil
			}
			return sections, err
		}
		// A section that has begun is finished, whatever the clock says.
		if err := addOne(context.WithoutCancel(ctx), client, counter); err != nil {
			return sections, err
		}
		sections++
		if err := h.Close(); err != nil {
			return sections, err
		}
	}
}

// addOne is what goes wrong when two do it at the same time.
func addOne(ctx context.Context, client rueidis.Client, key string) error {
	n, err := client.Do(ctx, client.B().Get().Key(key).Build()).AsInt64()
	if err != nil && !rueidis.IsRedisNil(err) {
		return err
	}
	return client.Do(ctx, client.B().Set().Key(key).Value(fmt.Sprint(n+1)).Build()).Error()
}
