package actors

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// fullRig is a System in a bubble whose pipeline is full: as many commands as it
// admits are in flight, for other names, and stay there until hang is closed.
func fullRig(t *testing.T, most int) (r *rig, others []*Hold, hang chan struct{}) {
	r = newBubbleRig(t)
	r.admission.limit(most)
	hang = make(chan struct{})
	r.door.carry = func(_ string, run func()) { go func() { <-hang; run() }() }
	for i := range most {
		others = append(others, r.acquire(t.Context(), fmt.Sprint("other-", i)))
	}
	return r, others, hang
}

// wantWaiting checks how many wait for admission.
func (r *rig) wantWaiting(n int) {
	r.tb.Helper()
	q := &r.admission
	q.mu.Lock()
	defer q.mu.Unlock()
	if got := int(q.n.Load()); got != n || q.queue.n != got {
		r.tb.Errorf("%d wait for admission, %d of them in the queue, want %d", got, q.queue.n, n)
	}
}

// With a full pipeline a name hears of no acquire, and afterwards of all in their
// order, whoever lets them in.
func TestAdmissionKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, others, hang := fullRig(t, 3)
		var holds []*Hold
		for i := range 20 {
			holds = append(holds, r.acquire(t.Context(), fmt.Sprint("lock-", i%2)))
		}
		r.wantWaiting(20)
		if n := r.table.n.Load(); n != 3 {
			t.Errorf("%d names have been heard of, want 3", n)
		}
		close(hang)
		for _, h := range others {
			if _, err := h.Await(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for i, h := range holds {
			if i >= 2 {
				synctest.Wait()
				if h.Granted().IsDone() {
					t.Errorf("%d was granted out of its turn", i)
				}
				r.unlock(holds[i-2])
			}
			if _, err := h.Await(t.Context()); err != nil {
				t.Error(err)
			}
		}
		r.wantWaiting(0)
	})
}

// More commands than the pipeline has room for are never in flight, and each that
// comes back lets one in.
func TestAdmissionBound(t *testing.T) {
	r := newRig(t)
	const most, names, rounds = 4, 200, 5
	r.admission.limit(most)
	var flying, high atomic.Int64
	r.door.carry = func(script string, run func()) {
		if script != "acquire" {
			go run()
			return
		}
		n := flying.Add(1)
		for h := high.Load(); n > h && !high.CompareAndSwap(h, n); h = high.Load() {
		}
		go func() {
			flying.Add(-1)
			run()
		}()
	}
	for range rounds {
		var holds []*Hold
		for i := range names {
			holds = append(holds, r.acquire(t.Context(), fmt.Sprint("lock-", i)))
		}
		for _, h := range holds {
			got, err := h.Await(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.unlock(got)
		}
	}
	// To look for room and to take it are two steps: each thread may be one too many.
	if n := high.Load(); n > int64(most+2*runtime.GOMAXPROCS(0)+4) {
		t.Errorf("%d acquires of %d were in flight at a time, want about %d", n, names, most)
	}
	r.wantEmpty()
}

// Requests that cause no command, because their name is held, free no room when they
// have been let in: the next ones follow at once, or nobody would ever let them in.
func TestAdmissionOfWaitersForOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		held := r.take("lock")
		r.admission.limit(1)
		hang := make(chan struct{})
		r.door.carry = func(_ string, run func()) { go func() { <-hang; run() }() }
		r.acquire(t.Context(), "other")
		var waiters []*Hold
		for range 50 {
			waiters = append(waiters, r.acquire(t.Context(), "lock"))
		}
		r.wantWaiting(50)
		close(hang)
		synctest.Wait()
		r.wantWaiting(0)
		r.unlock(held)
		for _, h := range waiters {
			if _, err := h.Await(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.unlock(h)
		}
	})
}

// Who is canceled or out of time while the pipeline is full is answered in time, and
// not sent.
func TestAdmissionGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, others, hang := fullRig(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		canceled := r.acquire(ctx, "lock-1", watched)
		short := r.acquire(t.Context(), "lock-2", waitAtMost(time.Second), watched)
		stays := r.acquire(t.Context(), "lock-3", watched)
		r.wantWaiting(3)
		cancel()
		synctest.Wait()
		if _, err, ok := canceled.Granted().TryGet(); !ok || !errors.Is(err, context.Canceled) || !errors.Is(err, ErrNotAcquired) {
			t.Errorf("canceled: %v, done %v", err, ok)
		}
		if n := r.pending.Load(); n != 4 {
			t.Errorf("%d are pending, want 4", n)
		}
		r.wantWaiting(2)
		time.Sleep(time.Second - time.Millisecond)
		synctest.Wait()
		if short.Granted().IsDone() {
			t.Error("WaitFor ended early")
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		var busy *HeldError
		if _, err, ok := short.Granted().TryGet(); !ok || !errors.As(err, &busy) {
			t.Errorf("WaitFor: %v, done %v", err, ok)
		}
		r.wantWaiting(1)
		close(hang)
		for _, h := range append(others, stays) {
			if _, err := h.Await(t.Context()); err != nil {
				t.Error(err)
			}
			r.unlock(h)
		}
		r.wantEmpty()
		for _, name := range []string{"lock-1", "lock-2"} {
			if owner, _ := r.door.holder(name); owner != "" {
				t.Errorf("%s is %s's, who gave it up", name, owner)
			}
		}
	})
}

// A ctx that ends between Acquire's look at it and the wait finds nobody to cancel.
func TestAdmissionAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, hang := fullRig(t, 1)
		ctx := &slowCtx{Context: t.Context(), done: make(chan struct{})}
		h := r.acquire(ctx, "lock", waitAtMost(time.Millisecond), watched) // which passes while ctx is hooked
		synctest.Wait()
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if _, err, ok := h.Granted().TryGet(); !ok || !errors.Is(err, ErrNotAcquired) {
			t.Errorf("%v, done %v", err, ok)
		}
		gone := r.acquire(t.Context(), "lock")
		gone.outside = false // as between the look and the wait
		r.admission.queue.remove(&gone.call)
		r.admission.n.Add(-1)
		gone.Granted().Cancel(nil)
		r.await(gone)
		synctest.Wait()
		r.wantWaiting(0)
		if n := r.pending.Load(); n != 1 {
			t.Errorf("%d are pending, want the one in flight", n)
		}
		close(hang)
	})
}

// The last command may come back between the look for room and the wait, when nobody
// is left to let anybody in; and whoever comes then goes behind who waits.
func TestAdmissionWithoutCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		r.admission.limit(1)
		r.inFlight.Add(1) // a command
		first := r.acquire(t.Context(), "lock")
		r.wantWaiting(1)
		r.inFlight.Add(-1)
		second := r.acquire(t.Context(), "lock")
		if _, err := first.Await(t.Context()); err != nil || second.Granted().IsDone() {
			t.Errorf("%v; the second was granted: %v", err, second.Granted().IsDone())
		}
		r.wantWaiting(0)
	})
}

// A call that is given up runs its name's actor on the goroutine that gave it up. If the
// last command's reply comes meanwhile, the same goroutine has to let in the next ones.
func TestAdmissionGivenUpAmidTheLastReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		held := r.take("lock")
		r.admission.limit(1)
		reply := make(chan struct{})
		r.door.carry = func(_ string, run func()) { go func() { <-reply; run() }() }
		held.UnlockAsync()
		first, second := r.acquire(t.Context(), "lock"), r.acquire(t.Context(), "other")
		r.wantWaiting(2)
		amid, goOn := make(chan struct{}), make(chan struct{})
		first.unhook = func() bool { close(amid); <-goOn; return true } // called by the actor
		go first.Granted().Cancel(nil)
		<-amid
		close(reply)
		synctest.Wait()
		close(goOn)
		if _, err := second.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// Who is late is not sent, so it cannot be granted ahead of who asked before, and is
// told why nothing moved.
func TestAdmissionLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, hang := fullRig(t, 2)
		r.door.carry = func(_ string, run func()) { run() }
		first := r.acquire(t.Context(), "lock")
		second := r.acquire(t.Context(), "lock", waitAtMost(time.Second))
		r.admission.trouble.Store(&errFake)
		sent := r.door.times("acquire")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := r.door.times("acquire") - sent; n != 0 {
			t.Errorf("%d acquires were sent", n)
		}
		var busy *HeldError
		_, err, ok := second.Granted().TryGet()
		if !ok || !errors.As(err, &busy) || !errors.Is(err, errFake) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v, done %v", err, ok)
		}
		if first.Granted().IsDone() {
			t.Error("who has no bound was answered")
		}
		close(hang)
	})
}

// A re-entry goes ahead of who waits, here as at its name: otherwise its own unlock
// would overtake it. That an owner was given does not make it one.
func TestAdmissionOfReentry(t *testing.T) {
	for name, parked := range map[string]bool{"a name at rest": false, "a name with a waiter": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newBubbleRig(t)
				outer := r.take("lock")
				if parked { // the name has been handed on since it was last at rest
					synctest.Wait()
					next := r.acquire(t.Context(), "lock")
					r.acquire(t.Context(), "lock")
					r.unlock(outer)
					if outer, _ = next.Await(t.Context()); outer == nil {
						t.Fatal("no hand-off")
					}
				}
				synctest.Wait()
				r.admission.limit(1)
				r.inFlight.Add(1)
				inner := r.acquire(t.Context(), "lock", by(outer.Owner()))
				r.unlock(outer)
				if _, n := r.door.holder("lock"); n != 1 {
					t.Errorf("%d levels are held, want the inner one", n)
				}
				if got, err := inner.Await(t.Context()); err != nil || got.Count() != 2 {
					t.Errorf("%v, %v", got, err)
				}
				r.acquire(t.Context(), "lock", by(r.NewOwner()))
				r.acquire(t.Context(), "other", by(inner.Owner()))
				r.wantWaiting(2)
				r.inFlight.Add(-1)
			})
		})
	}
}

// Those who pass by may keep the pipeline full for ever: others get their turn.
func TestAdmissionAmidOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		r.admission.limit(1)
		r.inFlight.Add(1) // there is never room
		waits := []*Hold{r.acquire(t.Context(), "lock-0"), r.acquire(t.Context(), "lock-1")}
		for i := range waits {
			for n := 0; !waits[i].Granted().IsDone(); n += 2 {
				if n > fewReplies {
					t.Fatalf("%d is not let in after %d replies to others", i, n)
				}
				h, err := r.acquire(t.Context(), "try", asTry).Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				r.unlock(h)
				synctest.Wait()
			}
			r.wantWaiting(len(waits) - 1 - i)
		}
		r.inFlight.Add(-1)
	})
}

// A try has one attempt and waits for nobody, and unlocks have to pass.
func TestAdmissionLetsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		held := r.take("held")
		r.admission.limit(1)
		hang := make(chan struct{})
		r.door.carry = func(script string, run func()) {
			if script == "acquire" {
				go func() { <-hang; run() }()
			} else {
				go run()
			}
		}
		r.acquire(t.Context(), "other")
		r.acquire(t.Context(), "lock-1")
		sent := r.door.times("acquire")
		r.acquire(t.Context(), "lock-2", asTry)
		if n := r.door.times("acquire") - sent; n != 1 {
			t.Errorf("a try was sent %d times", n)
		}
		r.unlock(held)
		r.wantWaiting(1)
		close(hang)
	})
}

// Close answers who waits for admission, and who comes later.
func TestAdmissionClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, others, hang := fullRig(t, 2)
		var holds []*Hold
		for i := range 10 {
			holds = append(holds, r.acquire(t.Context(), fmt.Sprint("lock-", i/2)))
		}
		holds = append(holds, r.acquire(t.Context(), "other-1"))
		closed := make(chan error)
		go func() { closed <- r.System.Close(context.Background()) }()
		synctest.Wait()
		holds = append(holds, r.acquire(t.Context(), "late"))
		for i, h := range append(holds, others...) {
			if _, err, ok := h.Granted().TryGet(); !ok || !errors.Is(err, ErrClosed) {
				t.Errorf("%d: %v, done %v", i, err, ok)
			}
		}
		close(hang)
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
		r.wantWaiting(0)
		r.wantEmpty()
	})
}

// awayDoor is a server that is away.
type awayDoor struct{ *fakeDoor }

func (d awayDoor) Acquire(op *rediscmd.Op, done rediscmd.Completer, _ rediscmd.AcquireArgs) {
	go func() {
		op.Reply = rediscmd.Reply{Outcome: rediscmd.OutcomeRetryable, Err: errFake, SentAt: time.Now()}
		done.Completed(op)
	}()
}

// Who gives up without having been let in learns why nothing moved.
func TestAdmissionTellsTheTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t)
		r.kind.Door = awayDoor{r.door}
		r.admission.limit(2)
		r.acquire(t.Context(), "other")
		r.inFlight.Add(2) // others take the room
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		h := r.acquire(ctx, "lock", watched)
		r.wantWaiting(1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		_, err, ok := h.Granted().TryGet()
		if !ok || !errors.Is(err, errFake) || !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, done %v", err, ok)
		}
		r.inFlight.Add(-2)

		// Whoever met the trouble may be gone when it is over.
		r.kind.Door = r.door
		r.unlock(r.take("any"))
		if err := r.admission.lastTrouble(); err != nil {
			t.Errorf("Redis is back, and its trouble still told: %v", err)
		}
	})
}

// A telemetry provider that panics while Close answers one must not cost the others
// their answer, or Close its end.
func TestAdmissionClosedWithAProviderThatPanics(t *testing.T) {
	m, tel := meterTel(t, "acquire.duration", 1)
	synctest.Test(t, func(t *testing.T) {
		r := newBubbleRig(t, withTelemetry(tel))
		r.admission.limit(1)
		r.inFlight.Add(1)
		var holds []*Hold
		for i := range 5 {
			holds = append(holds, r.acquire(t.Context(), fmt.Sprint("lock-", i)))
		}
		m.armed.Store(true)
		if err := r.System.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
		m.armed.Store(false)
		for i, h := range holds {
			if _, err, ok := h.Granted().TryGet(); !ok || !errors.Is(err, ErrClosed) {
				t.Errorf("%d: %v, done %v", i, err, ok)
			}
		}
		r.inFlight.Add(-1)
	})
}

// The System takes the bound from the pipeline.
func TestAdmissionIsAsLargeAsThePipeline(t *testing.T) {
	r := newRig(t)
	if n := r.admission.most.Load(); n != int64(r.redis.Capacity()) || n < 256 {
		t.Errorf("%d commands fill a pipeline of %d", n, r.redis.Capacity())
	}
}

// Callers of few names meet at a narrow door: all are answered, and nobody is stuck
// outside when nothing moves any more.
func TestAdmissionStress(t *testing.T) {
	r := newRig(t)
	r.admission.limit(3)
	r.door.carry = scattered
	const callers, names = 32, 16
	rounds := 1000
	if testing.Short() || raceEnabled {
		rounds = 200
	}
	var (
		wg     sync.WaitGroup
		inside [names]atomic.Int32
	)
	for range callers {
		wg.Go(func() {
			for range rounds {
				n := rand.IntN(names)
				r.stressOnce(t, n, &inside[n])
			}
		})
	}
	r.wantAnswered(&wg)
	r.wantWaiting(0)
	r.wantEmpty()
}
