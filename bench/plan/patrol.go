package plan

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/bench/look"
)

// The figures of a patrol.
const (
	LeastTTL    = "least_ttl_share" // the shortest that any lock had, over its lease
	KeysMissing = "keys_missing"    // locks that had no key in the end
)

// patrol watches over locks that are held and renewed, from outside: it looks at
// the TTL of every key again and again. Giving the locks back comes after the
// time is over, and would count as commands of the trial; so the patrol reads the
// server's counters itself, and leaves its own commands out of them.
type patrol struct {
	locks    int
	interval time.Duration // between the renewals of a lock
	periods  int           // for which it watches
}

// lease is the usual: renewed when a third of it has passed.
func (p patrol) lease() time.Duration { return 3 * p.interval }

// lasts adds a little to the periods. The locks were taken shortly before, one
// after the other, and are renewed in that rhythm: the last renewals of the last
// period are to be in, and the first ones of the next are not.
func (p patrol) lasts() time.Duration {
	return time.Duration(p.periods)*p.interval + p.interval/8
}

// walk implements Trial.Watch. The server has no keys but the locks.
func (p patrol) walk(ctx context.Context, redis rueidis.Client) (Figures, error) {
	began := time.Now()
	before, err := look.At(ctx, redis)
	if err != nil {
		return nil, err
	}
	w := walker{redis: redis, until: began.Add(p.lasts()), least: math.MaxInt64, commands: 1} // the look before
	// Not a part of the interval, so that every round meets other moments of it;
	// none begins so late that it might meet the end.
	for ctx.Err() == nil && time.Since(began) < p.lasts()*8/10 {
		if err := w.round(ctx); err != nil {
			return nil, err
		}
		pause(ctx, p.interval*3/8)
	}
	pause(ctx, time.Until(w.until))
	after, err := look.At(ctx, redis)
	if err != nil {
		return nil, err
	}
	keys, err := redis.Do(ctx, redis.B().Dbsize().Build()).AsInt64()
	if err != nil {
		return nil, fmt.Errorf("patrol: %w", err)
	}
	return p.figures(after.Since(before), w, keys, time.Since(began)), nil
}

// figures replace those that the conductor computes from the whole trial. What the
// server's CPU did while it was asked for TTLs is filled in with its mean at other
// times.
func (p patrol) figures(l look.Load, w walker, keys int64, took time.Duration) Figures {
	due := float64(p.locks * p.periods)
	cpu := (l.CPU - w.cpu) / (1 - float64(w.walked)/float64(took))
	return Figures{
		LeastTTL:       float64(w.least) / float64(p.lease().Milliseconds()),
		KeysMissing:    float64(int64(p.locks) - keys),
		Scripts:        float64(l.Scripts),
		ScriptsPerOp:   float64(l.Scripts) / due,
		CommandsPerOp:  float64(l.Scripts) / due,
		CallsPerOp:     float64(l.Calls-w.commands) / due,
		ServerCPUPerOp: cpu * 1e6 / due,
	}
}

// walker goes round all keys.
type walker struct {
	redis    rueidis.Client
	until    time.Time
	least    int64 // milliseconds
	commands int64 // of its own
	walked   time.Duration
	cpu      float64 // of the server, meanwhile
}

func (w *walker) round(ctx context.Context) error {
	began := time.Now()
	before, err := look.At(ctx, w.redis)
	if err != nil {
		return err
	}
	if err := w.scan(ctx); err != nil {
		return fmt.Errorf("patrol: %w", err)
	}
	after, err := look.At(ctx, w.redis)
	w.commands += 2 // these two
	w.walked += time.Since(began)
	w.cpu += after.CPU - before.CPU
	return err
}

// scan looks at every key, as far as it gets in time.
func (w *walker) scan(ctx context.Context) error {
	const page = 1000
	for cursor := uint64(0); time.Now().Before(w.until); {
		keys, err := w.redis.Do(ctx, w.redis.B().Scan().Cursor(cursor).Count(page).Build()).AsScanEntry()
		if err != nil {
			return err
		}
		asks := make(rueidis.Commands, 0, len(keys.Elements))
		for _, key := range keys.Elements {
			asks = append(asks, w.redis.B().Pttl().Key(key).Build())
		}
		w.commands += int64(len(asks)) + 1
		for _, r := range w.redis.DoMulti(ctx, asks...) {
			ttl, err := r.AsInt64()
			if err != nil {
				return err
			}
			w.least = min(w.least, ttl) // negative: no key any more, or no TTL
		}
		if cursor = keys.Cursor; cursor == 0 {
			return nil
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
