package peer

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// The plainest scripts that are correct for a lock which is a hash with its owner
// as the only field, and that wake whoever waits.
const (
	floorLock = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HSET', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return -1`

	floorUnlock = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], 0)
return 1`

	floorHandOver = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[2], 1)
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`
)

// Floor is no lock library: it sends scripts, and there is nothing around them.
// What a library adds shows against it.
type Floor struct {
	client                 rueidis.Client
	lock, unlock, handOver string // digests
	lease                  string
}

// OpenFloor connects and loads the scripts.
func OpenFloor(ctx context.Context, job wire.Job) (*Floor, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{job.Addr}, DisableCache: true})
	if err != nil {
		return nil, fmt.Errorf("open floor: %w", err)
	}
	f := &Floor{client: client, lease: strconv.FormatInt(lease(job).Milliseconds(), 10)}
	for _, s := range []struct {
		digest *string
		body   string
	}{{&f.lock, floorLock}, {&f.unlock, floorUnlock}, {&f.handOver, floorHandOver}} {
		*s.digest, err = client.Do(ctx, client.B().ScriptLoad().Script(s.body).Build()).ToString()
		if err != nil {
			client.Close()
			return nil, fmt.Errorf("open floor: %w", err)
		}
	}
	return f, nil
}

// Close gives back the connections.
func (f *Floor) Close() { f.client.Close() }

// Keys are some locks with an owner for each.
type Keys struct {
	names, channels, owners []string
	commands                rueidis.Commands
}

// NewKeys names n locks.
func NewKeys(prefix string, n int) *Keys {
	k := &Keys{commands: make(rueidis.Commands, 0, n)}
	id := uuid.NewString()
	for i := range n {
		name := fmt.Sprint(prefix, i)
		k.names = append(k.names, name)
		k.channels = append(k.channels, "channel:{"+name+"}")
		k.owners = append(k.owners, fmt.Sprint(id, ":", i))
	}
	return k
}

// LockAll takes all locks, one script each, in one DoMulti.
func (f *Floor) LockAll(ctx context.Context, k *Keys) error {
	k.commands = k.commands[:0]
	for i := range k.names {
		k.commands = append(k.commands, f.lockCommand(k, i))
	}
	return f.all(ctx, k, -1)
}

// UnlockAll gives all of them back, one script each, in one DoMulti.
func (f *Floor) UnlockAll(ctx context.Context, k *Keys) error {
	k.commands = k.commands[:0]
	for i := range k.names {
		k.commands = append(k.commands, f.unlockCommand(k, i))
	}
	return f.all(ctx, k, 1)
}

func (f *Floor) all(ctx context.Context, k *Keys, want int64) error {
	for _, r := range f.client.DoMulti(ctx, k.commands...) {
		if err := expect(r, want); err != nil {
			return err
		}
	}
	return nil
}

// Pair is two round trips: it takes the first lock and gives it back.
func (f *Floor) Pair(ctx context.Context, k *Keys) error {
	if err := expect(f.client.Do(ctx, f.lockCommand(k, 0)), -1); err != nil {
		return err
	}
	return expect(f.client.Do(ctx, f.unlockCommand(k, 0)), 1)
}

// HandOver is one round trip: it passes the first lock from one owner to the next.
func (f *Floor) HandOver(ctx context.Context, k *Keys, from, to int) error {
	return expect(f.client.Do(ctx, f.client.B().Evalsha().Sha1(f.handOver).Numkeys(1).
		Key(k.names[0]).Arg(k.owners[from], k.owners[to], f.lease).Build()), 1)
}

// LockFirst takes the first lock, for HandOver.
func (f *Floor) LockFirst(ctx context.Context, k *Keys) error {
	return expect(f.client.Do(ctx, f.lockCommand(k, 0)), -1)
}

func (f *Floor) lockCommand(k *Keys, i int) rueidis.Completed {
	return f.client.B().Evalsha().Sha1(f.lock).Numkeys(1).Key(k.names[i]).Arg(k.owners[i], f.lease).Build()
}

func (f *Floor) unlockCommand(k *Keys, i int) rueidis.Completed {
	return f.client.B().Evalsha().Sha1(f.unlock).Numkeys(2).Key(k.names[i], k.channels[i]).Arg(k.owners[i]).Build()
}

var errFloor = errors.New("floor: a script found somebody else's lock")

func expect(r rueidis.RedisResult, want int64) error {
	got, err := r.AsInt64()
	if err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	if got != want {
		return errFloor
	}
	return nil
}
