package stress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/future"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// The server freezes for longer than a command may take. Batches are given up
// and sent again; in the end every request is granted, once.
func TestFrozenServerUnderLoad(t *testing.T) {
	const requests = 4000
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()))
	unlock(t, lock(t, rt.Lock("warm")))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	long := strings.Repeat("x", 1000) // 4 MB and more: sockets are full, batches half written

	s.Pause()
	futures := make([]*future.Future[*holdfast.Hold], requests)
	for i := range futures {
		futures[i] = rt.Lock(fmt.Sprint(long, i)).LockAsync(ctx)
	}
	time.Sleep(1800 * time.Millisecond)
	s.Resume()

	holds := make([]*holdfast.Hold, requests)
	for i, f := range futures {
		var err error
		if holds[i], err = f.Get(ctx); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	for i, h := range holds {
		count, err := s.MustDo("HGET", h.Name(), h.Owner().String()).AsInt64()
		if err != nil || count != 1 || h.Count() != 1 {
			t.Fatalf("request %d: the server counts %d (%v), the hold %d; want 1", i, count, err, h.Count())
		}
	}
	for i, h := range holds {
		if err := h.Unlock(ctx); err != nil {
			t.Fatalf("request %d: unlock: %v", i, err)
		}
	}
	eventually(t, gone, "all keys are gone", func() bool { return keysLeft(s) == 0 })
}

// borrower is a client that has not written a batch when its time is up, as
// rueidis has not when the socket is full: it goes on reading the commands from
// the slice that it was given, long after DoMulti returned.
type borrower struct {
	rueidis.Client
	stuck atomic.Bool

	mu    sync.Mutex
	loans []loan
}

type loan struct{ lent, copied []rueidis.Completed }

func (b *borrower) DoMulti(ctx context.Context, multi ...rueidis.Completed) []rueidis.RedisResult {
	if !b.stuck.Load() {
		return b.Client.DoMulti(ctx, multi...)
	}
	b.mu.Lock()
	b.loans = append(b.loans, loan{multi, slices.Clone(multi)})
	b.mu.Unlock()
	<-ctx.Done()
	return slices.Repeat([]rueidis.RedisResult{rueidis.NewErrorResult(ctx.Err())}, len(multi))
}

// Commands that were given up belong to rueidis: clearing them crashes its
// writer, and with it the process; using the slice again sends the next batch's
// commands twice.
func TestCommandsGivenUpAreLeftAlone(t *testing.T) {
	const requests = 600 // more than one batch
	s := redistest.Start(t)
	client := &borrower{Client: s.Client(t)}
	rt := start(t, rueidis.ClientOption{}, holdfast.WithClient(client))
	unlock(t, lock(t, rt.Lock("warm")))
	client.stuck.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	futures := make([]*future.Future[*holdfast.Hold], requests)
	for i := range futures {
		// With equal leases a batch may be one script run for all: one command, no slice.
		lease := time.Minute + time.Duration(i%4)*time.Second
		futures[i] = rt.Lock(fmt.Sprint("lock-", i)).LockAsync(ctx, holdfast.LeaseFor(lease))
	}
	time.Sleep(1500 * time.Millisecond) // a command may take a second
	client.stuck.Store(false)
	for i, f := range futures {
		h, err := f.Get(ctx)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if err := h.Unlock(ctx); err != nil {
			t.Fatalf("request %d: unlock: %v", i, err)
		}
	}
	client.mu.Lock()
	defer client.mu.Unlock()
	if len(client.loans) == 0 {
		t.Fatal("nothing was given up")
	}
	for i, l := range client.loans {
		if !slices.Equal(l.lent, l.copied) {
			t.Errorf("the commands of batch %d of %d, %d of them, were overwritten", i, len(client.loans), len(l.lent))
		}
	}
}
