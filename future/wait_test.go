package future

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The ctx of one reader ends that reader's wait: not the others', not the work, and nothing is stored.
func TestGetCtxEndsOneWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := kept()
		f := p.Future()
		errLate := errors.New("too late for me")
		short, cancel := context.WithTimeoutCause(t.Context(), time.Second, errLate)
		defer cancel()

		got := make(chan int, 2)
		for range 2 {
			go func() {
				v, err := f.Get(context.Background())
				wantErr(t, err)
				got <- v
			}()
		}
		if _, err := f.Get(short); err != errLate {
			t.Errorf("Get = %v, want the cause of its ctx", err)
		}
		synctest.Wait()
		wantPending(t, f)
		if len(got) != 0 {
			t.Error("another reader returned with it")
		}
		l.want(t)

		p.Settle(5, nil)
		if a, b := <-got, <-got; a != 5 || b != 5 {
			t.Errorf("readers got %d and %d", a, b)
		}
		if v, err := f.Get(short); v != 5 || err != nil {
			t.Errorf("Get with a ctx that is done = %v, %v although the value is there", v, err)
		}
		l.want(t, "claimed 5")
	})
}

// A ctx that is done before the call, with a Done channel or not, on a pending future.
func TestGetDoneCtx(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errCause)
	p, _ := kept()
	if _, err := p.Future().Get(ctx); err != errCause {
		t.Errorf("Get = %v, want the cause", err)
	}
	if p.f.waiters.first != nil {
		t.Error("the reader left its waiter behind")
	}
}

// lateCtx is done, and lets something happen when a reader that already waits asks for its Done channel.
type lateCtx struct {
	context.Context
	meanwhile func()
}

func (c lateCtx) Done() <-chan struct{} {
	c.meanwhile()
	return closed
}

// When the settlement and the end of ctx are both there, the result goes first, however often the dice are thrown.
func TestResultBeatsCtx(t *testing.T) {
	for range 100 {
		p, l := kept()
		v, err := p.Future().Get(lateCtx{t.Context(), func() { p.Settle(1, nil) }})
		if v != 1 || err != nil {
			t.Fatalf("Get = %v, %v", v, err)
		}
		l.want(t, "claimed 1")

		q, l := kept()
		vs, err := All(lateCtx{t.Context(), func() { q.Settle(2, nil) }}, q.Future())
		if len(vs) != 1 || err != nil {
			t.Fatalf("All = %v, %v", vs, err)
		}
		l.want(t, "claimed 2")
	}
}

// The wait list keeps its order whoever leaves it: each of five readers in turn, and pairs of them.
func TestWaitersLeave(t *testing.T) {
	for leave := range 1 << 5 {
		f, settle := New[int]()
		ch := make(chan int, 5)
		nodes := make([]waiter, 5)
		for i := range nodes {
			nodes[i].ch, nodes[i].id = ch, i
			if !f.enlist(&nodes[i]) {
				t.Fatal("cannot wait for a pending future")
			}
		}
		for i := range nodes {
			if leave&(1<<i) != 0 && !f.unlist(&nodes[i]) {
				t.Fatal("cannot leave a pending future")
			}
		}
		settle(1, nil)
		for i := range nodes {
			if leave&(1<<i) != 0 {
				continue
			}
			if len(ch) == 0 {
				t.Fatalf("leave %05b: reader %d was not woken", leave, i)
			}
			if got := <-ch; got != i {
				t.Fatalf("leave %05b: woke %d, want %d", leave, got, i)
			}
		}
		if len(ch) != 0 {
			t.Fatalf("leave %05b: somebody was woken who had left", leave)
		}
		if f.unlist(&nodes[0]) || f.enlist(&nodes[0]) {
			t.Fatal("a future that is done has a wait list")
		}
	}
}

// slow is a Keeper that takes its time, which it should not: the tests use it to look at the moment in between.
type slow struct{ ledger }

func (s *slow) Canceled(cause error, v int, settled bool) {
	time.Sleep(time.Second)
	s.ledger.Canceled(cause, v, settled)
}

// Cancel wakes blocked readers like Settle does, after the Keeper has been told.
func TestCancelWakesReaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, s := new(Promise[int]), new(slow)
		p.Init(s)
		woken := 0
		for range 3 {
			go func() {
				_, err := p.Future().Get(t.Context())
				wantErr(t, err, ErrCanceled, errCause)
				s.mu.Lock()
				defer s.mu.Unlock()
				woken++
				if len(s.events) != 1 {
					t.Errorf("the reader woke before the Keeper was told: %q", s.events)
				}
			}()
		}
		synctest.Wait()
		p.Future().Cancel(errCause)
		synctest.Wait()
		s.want(t, "canceled 0 false: the caller went home")
		if woken != 3 {
			t.Errorf("%d of 3 readers woke", woken)
		}
	})
}

// A blocked reader that wakes up claims; a Cancel that slips in between is what it sees.
func TestCancelAfterSettleBeforeWakeUp(t *testing.T) {
	p, l := kept()
	f := p.Future()
	w := &waiter{ch: make(chan int, 1)}
	f.enlist(w) // a reader that is slow to wake up
	p.Settle(1, nil)
	if len(w.ch) != 1 {
		t.Fatal("the reader was not woken")
	}
	if !f.Cancel(errCause) {
		t.Error("Cancel = false before anybody took the value")
	}
	wantGet(t, f, 0, ErrCanceled, errCause)
	l.want(t, "canceled 1 true: the caller went home")
}

// Waiters come from a pool, and a channel must not travel between bubbles, or between a bubble and the world: the
// runtime ends the process then. This test would not fail but die.
func TestPoolAndBubbles(t *testing.T) {
	handOff := func() {
		f, settle := New[int]()
		go func() {
			for enlisted := false; !enlisted; {
				f.mu.Lock()
				enlisted = f.waiters.first != nil
				f.mu.Unlock()
				time.Sleep(time.Microsecond)
			}
			settle(1, nil)
		}()
		if v, err := f.Get(context.Background()); v != 1 || err != nil {
			t.Errorf("Get = %v, %v", v, err)
		}
	}
	if inBubble() {
		t.Fatal("takes the world for a bubble")
	}
	for range 5 {
		handOff()
		synctest.Test(t, func(t *testing.T) {
			if !inBubble() {
				t.Fatal("does not notice the bubble")
			}
			handOff()
			// Not durably blocked would be: the clock stands still and this Get never ends.
			ctx, cancel := context.WithTimeout(t.Context(), 100*365*24*time.Hour)
			defer cancel()
			if _, err := new(Promise[int]).Future().Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Get = %v", err)
			}
			if !inBubble() {
				t.Fatal("does not notice the bubble a century later")
			}
		})
	}
}
