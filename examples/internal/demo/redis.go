// Package demo gives the examples a Redis: the one whose address they were given,
// or one inside the process, so that every example runs in a fresh clone.
package demo

import (
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
)

// Redis is a Redis to show things on.
type Redis struct {
	addr     string
	embedded *miniredis.Miniredis // nil for a real server
}

// Open returns the server at addr, or starts one in this process on a free
// loopback port if addr is empty.
func Open(addr string) (*Redis, error) {
	if addr != "" {
		return &Redis{addr: addr}, nil
	}
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		return nil, fmt.Errorf("start the embedded redis: %w", err)
	}
	m.ClockTTL(true) // without it keys never expire by themselves, and a lease would not end
	return &Redis{addr: m.Addr(), embedded: m}, nil
}

// Close stops the server if Open started it.
func (r *Redis) Close() {
	if r.embedded != nil {
		r.embedded.Close()
	}
}

// String says where the server is.
func (r *Redis) String() string {
	if r.embedded != nil {
		return "embedded miniredis at " + r.addr
	}
	return "redis-server at " + r.addr
}

// Option returns what holdfast.New needs to reach the server, and what any other
// rueidis client does. A program of yours needs InitAddress only.
func (r *Redis) Option() rueidis.ClientOption {
	o := rueidis.ClientOption{InitAddress: []string{r.addr}}
	if r.embedded != nil {
		o.ForceSingleClient = true // miniredis is no cluster,
		o.AlwaysRESP2 = true       // mixes up subscriptions with RESP3,
		o.DisableCache = true      // and has no CLIENT TRACKING
	}
	return o
}
