package rediscmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

func TestEveryOpIsCompletedOnce(t *testing.T) {
	srv := redistest.Start(t)
	var batches, batched atomic.Int64
	c := newClient(t, Config{Client: srv.Client(t), OnBatch: func(n int) {
		batches.Add(1)
		batched.Add(int64(n))
	}})
	const goroutines, each = 50, 20
	counts := make([]counter, goroutines*each)
	var all sync.WaitGroup
	all.Add(len(counts))
	var start sync.WaitGroup
	for g := range goroutines {
		start.Go(func() {
			for i := range each {
				n := g*each + i
				counts[n].all = &all
				c.Mutex().Acquire(&counts[n].op, &counts[n], AcquireArgs{
					Name: fmt.Sprintf("k%d", n), Owner: Owner{"a", 1}, Lease: lease, Level: 1,
				})
			}
		})
	}
	start.Wait()
	all.Wait()
	if err := c.Close(t.Context()); err != nil { // nothing can complete after this
		t.Fatal(err)
	}
	for i := range counts {
		if n := counts[i].n.Load(); n != 1 || counts[i].op.Reply.Verdict != Granted {
			t.Errorf("op %d: completed %d times, %+v", i, n, counts[i].op.Reply)
		}
	}
	if keys, err := srv.MustDo("DBSIZE").AsInt64(); err != nil || keys != goroutines*each {
		t.Errorf("%d keys, %v", keys, err)
	}
	if batched.Load() != goroutines*each || batches.Load() > batched.Load() {
		t.Errorf("%d ops in %d batches", batched.Load(), batches.Load())
	}
}

type counter struct {
	op  Op
	n   atomic.Int64
	all *sync.WaitGroup
}

func (c *counter) Completed(*Op) {
	c.n.Add(1)
	c.all.Done()
}

// completion orders: a Completer that records.
type recorder struct {
	mu    sync.Mutex
	order []string
}

type recorded struct {
	op   Op
	name string
	r    *recorder
	wait chan struct{} // if not nil, Completed waits for it
}

func (r *recorded) Completed(*Op) {
	if r.wait != nil {
		<-r.wait
	}
	r.r.mu.Lock()
	r.r.order = append(r.r.order, r.name)
	r.r.mu.Unlock()
}

func TestUrgentOpsGoFirstInBatchesOfAtMostMaxBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		var sizes []int
		c := newClient(t, Config{Client: b.Client(t), Workers: 1, MaxBatch: 3, OnBatch: func(n int) { sizes = append(sizes, n) }})
		rec := &recorder{}
		hold := &recorded{name: "first", r: rec, wait: make(chan struct{})}
		c.Mutex().Check(&hold.op, hold, "k", Owner{"a", 1})
		synctest.Wait() // the only worker is inside hold.Completed
		var want []string
		for i := range 4 {
			n := &recorded{name: fmt.Sprintf("normal %d", i), r: rec}
			c.Mutex().Acquire(&n.op, n, AcquireArgs{Name: fmt.Sprintf("k%d", i), Owner: Owner{"a", 1}, Lease: lease, Level: 1})
			u := &recorded{name: fmt.Sprintf("urgent %d", i), r: rec}
			c.Mutex().Release(&u.op, u, ReleaseArgs{Name: fmt.Sprintf("k%d", i), Owner: Owner{"a", 1}})
		}
		for _, kind := range []string{"urgent", "normal"} {
			for i := range 4 {
				want = append(want, fmt.Sprintf("%s %d", kind, i))
			}
		}
		close(hold.wait)
		synctest.Wait()
		if want = append([]string{"first"}, want...); !slices.Equal(rec.order, want) {
			t.Errorf("order %v, want %v", rec.order, want)
		}
		if !slices.Equal(sizes, []int{1, 3, 3, 2}) {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// The server keeps its replies to itself, so whoever sets out stays away.
func TestWorkersSetOutOnlyWhenNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Workers: 3})
		lane := c.lanes.only
		for round := range 2 { // started in the first, called in the second
			b.SetFault(redistest.DropReplies)
			rec := &recorder{}
			// The second does not wait for the first, the third and fourth go together,
			// and then all are away.
			for i, want := range []struct{ away, carried, queued int }{{1, 1, 0}, {2, 2, 0}, {2, 2, 1}, {3, 4, 0}, {3, 4, 1}, {3, 4, 2}, {3, 4, 3}, {3, 4, 4}} {
				op := &recorded{name: "op", r: rec}
				c.Mutex().Check(&op.op, op, "k", Owner{"a", 1})
				synctest.Wait()
				lane.mu.Lock()
				if lane.away != want.away || lane.carried != want.carried || lane.queued() != want.queued {
					t.Errorf("round %d, op %d: %d away with %d, %d queued, want %+v", round, i, lane.away, lane.carried, lane.queued(), want)
				}
				if round == 0 && lane.workers != want.away {
					t.Errorf("op %d: %d workers for %d batches", i, lane.workers, want.away)
				}
				lane.mu.Unlock()
			}
			b.SetFault(redistest.NoFault)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if len(rec.order) != 8 {
				t.Fatalf("round %d: %d ops completed", round, len(rec.order))
			}
			lane.mu.Lock()
			if lane.workers != 3 || lane.idle != 3 || lane.away != 0 || lane.carried != 0 {
				t.Errorf("after round %d: %d workers, %d idle, %d away with %d", round, lane.workers, lane.idle, lane.away, lane.carried)
			}
			lane.mu.Unlock()
		}
	})
}

func anyOps(n int) []Op {
	ops := make([]Op, n)
	for i := range ops {
		ops[i].prepare(inspectScript, "k")
	}
	return ops
}

func TestOneWorkerIsCalledAtATime(t *testing.T) {
	c := &Client{cfg: Config{}.withDefaults()}
	lane := newLane(c)
	lane.workers, lane.idle = 3, 3 // nobody is really there
	ops := anyOps(4)
	for i := range 3 {
		lane.push(&ops[i])
		if lane.idle != 2 || lane.home() != 1 {
			t.Errorf("push %d: %d idle, %d at home", i, lane.idle, lane.home())
		}
	}
	if got := lane.take(nil); len(got) != 3 || lane.away != 1 || lane.idle != 2 {
		t.Errorf("took %d, %d away, %d idle", len(got), lane.away, lane.idle)
	}
	if lane.push(&ops[3]); lane.idle != 2 {
		t.Error("one operation was not worth a batch while three are away")
	}
	if lane.landed(3, true); lane.home() != 1 {
		t.Errorf("%d at home", lane.home())
	}
}

// While a worker completes a large batch, which is answered, the next one need not
// wait for as many operations.
func TestAnsweredOperationsAreNotOnTheirWay(t *testing.T) {
	c := &Client{cfg: Config{}.withDefaults()}
	lane := newLane(c)
	lane.workers, lane.idle = 3, 2 // nobody is really there
	ops := anyOps(101)
	for i := range 100 {
		lane.push(&ops[i])
	}
	w := &worker{lane: lane, ops: lane.take(nil)}
	w.carried = len(w.ops)
	if lane.push(&ops[100]); lane.idle != 2 {
		t.Error("one operation was not worth a batch while 100 are on their way")
	}
	w.landed()
	if lane.carried != 0 || lane.away != 1 || lane.idle != 1 {
		t.Errorf("with a batch that is answered: %d on their way, %d away, %d idle", lane.carried, lane.away, lane.idle)
	}
	w.home()
	w.home()
	if lane.carried != 0 || lane.away != 0 {
		t.Errorf("at home: %d on their way, %d away", lane.carried, lane.away)
	}
}

// A script of many renewals is one operation, and yet no small batch.
func TestManyRenewalsKeepTheirWorkerBusy(t *testing.T) {
	for items, busy := range map[int]bool{small: false, small + 1: true} {
		lane := newLane(&Client{cfg: Config{}.withDefaults()})
		lane.workers, lane.away, lane.carried = 1, 1, 1
		w := &worker{lane: lane, carried: 1}
		w.newRun(terms{}).push(&Op{batch: &renewal{items: make([]*Renewal, items)}})
		if w.landed(); w.busy != busy || lane.carried != 0 || lane.home() == 1 == busy {
			t.Errorf("%d leases: busy %v, %d on their way, %d at home", items, w.busy, lane.carried, lane.home())
		}
		if w.home(); lane.away != 0 || lane.carried != 0 {
			t.Errorf("%d leases, completed: %d away, %d on their way", items, lane.away, lane.carried)
		}
	}
}

// again submits its op a second time, from inside Completed.
type again struct {
	call
	d     Mutex
	times int
}

func (a *again) Completed(*Op) {
	if a.times++; a.times == 1 {
		a.d.Check(&a.op, a, "k", Owner{"a", 1})
		return
	}
	a.done <- struct{}{}
}

func TestAnOpMayBeUsedAgainInsideCompleted(t *testing.T) {
	_, c, _ := realServer(t)
	a := &again{call: *newCall(), d: c.Mutex()}
	a.d.Acquire(&a.op, a, AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
	if r := a.wait(t); r.Verdict != Held || r.Count != 1 {
		t.Errorf("second run: %+v", r)
	}
}

type panicker struct{ op Op }

func (*panicker) Completed(*Op) { panic("completer") }

func TestAPanicInACompleterHarmsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Workers: 1, OnBatch: func(int) { panic("observer") }})
		hold := &recorded{r: &recorder{}, wait: make(chan struct{})}
		c.Mutex().Check(&hold.op, hold, "k", Owner{"a", 1})
		synctest.Wait()
		p := new(panicker)
		c.Mutex().Check(&p.op, p, "k", Owner{"a", 1})
		after := newCall() // in the panicker's batch
		c.Mutex().Check(&after.op, after, "k", Owner{"a", 1})
		close(hold.wait)
		if r := after.wait(t); r.Verdict != Absent {
			t.Errorf("same batch: %+v", r)
		}
		if r := (caller{t, c.Mutex()}).check("k", Owner{"a", 1}); r.Verdict != Absent {
			t.Errorf("next batch: %+v", r)
		}
	})
}

func TestBadArgumentsAreNotSent(t *testing.T) {
	srv, _, c := realServer(t)
	srv.MustDo("CONFIG", "RESETSTAT")
	for name, r := range map[string]Reply{
		"lease 0":            c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1}),
		"lease below 1 ms":   c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1, Lease: time.Millisecond - 1}),
		"negative lease":     c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1, Lease: -time.Second}),
		"lease too long":     c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1, Lease: MaxLease + 1}),
		"longest duration":   c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1, Lease: 1<<63 - 1}),
		"level 0":            c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease}),
		"negative level":     c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: -1}),
		"no owner":           c.acquire(AcquireArgs{Name: "k", Lease: lease, Level: 1}),
		"negative remains":   c.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}, Level: -1, Lease: lease}),
		"lower without":      c.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1}),
		"hand off to no one": c.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, Lease: lease}),
		"extend by nothing":  c.extend(ExtendArgs{Name: "k", Owner: Owner{"a", 1}}),
		"renew by nothing":   c.renewFor(0, []*Renewal{{Name: "k", Owner: "a:1"}, {Name: "l", Owner: "a:1"}})[0].reply,
	} {
		if _, ok := errors.AsType[*ArgError](r.Err); !ok || r.Outcome != OutcomeFailed || !r.SentAt.IsZero() {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if n, err := srv.MustDo("DBSIZE").AsInt64(); n != 0 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	stats, err := srv.MustDo("INFO", "commandstats").ToString()
	if err != nil || contains(stats, "cmdstat_eval") {
		t.Errorf("scripts were run: %s %v", stats, err)
	}
}

func TestACrossSlotNameIsRefusedInACluster(t *testing.T) {
	srv := redistest.Start(t)
	c := newClient(t, Config{Client: srv.Client(t)})
	c.cfg.Cluster = true // only what the workers look at
	defer func() { c.cfg.Cluster = false }()
	r := caller{t, c.Mutex()}.release(ReleaseArgs{Name: "a{b", Owner: Owner{"a", 1}})
	if _, ok := errors.AsType[*NameError](r.Err); !ok || r.Outcome != OutcomeFailed {
		t.Errorf("%+v", r)
	}
}

func TestCloseFinishesWhatIsQueuedAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Workers: 1})
		hold := &recorded{r: &recorder{}, wait: make(chan struct{})}
		c.Mutex().Check(&hold.op, hold, "k", Owner{"a", 1})
		synctest.Wait()
		queued := newCall()
		c.Mutex().Acquire(&queued.op, queued, AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		closed := make(chan error, 1)
		go func() { closed <- c.Close(context.Background()) }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("closed with work queued: %v", err)
		default:
		}
		late := newCall()
		c.Mutex().Check(&late.op, late, "k", Owner{"a", 1})
		if len(late.done) != 1 || late.op.Reply.Outcome != OutcomeFailed || !errors.Is(late.op.Reply.Err, ErrClosed) {
			t.Errorf("late op: %+v", late.op.Reply)
		}
		if calls := (caller{t, c.Mutex()}).renew([]*Renewal{{Name: "k", Owner: "a:1"}}); !errors.Is(calls[0].reply.Err, ErrClosed) {
			t.Errorf("late renewal: %+v", calls[0].reply)
		}
		close(hold.wait)
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
		if queued.op.Reply.Verdict != Granted {
			t.Errorf("queued op: %+v", queued.op.Reply)
		}
		if err := c.Close(context.Background()); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestCloseGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Workers: 1})
		b.SetFault(redistest.DropReplies)
		sent, queued := newCall(), newCall()
		c.Mutex().Check(&sent.op, sent, "k", Owner{"a", 1})
		synctest.Wait()
		c.Mutex().Check(&queued.op, queued, "k", Owner{"a", 1})
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if err := c.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		if r := queued.op.Reply; len(queued.done) != 1 || !errors.Is(r.Err, ErrClosed) || r.Outcome != OutcomeFailed {
			t.Errorf("queued: %+v", r)
		}
		if len(sent.done) != 0 {
			t.Error("what was sent has a reply already")
		}
		if r := sent.wait(t); r.Outcome != OutcomeUnknown {
			t.Errorf("sent: %+v", r)
		}
		b.SetFault(redistest.NoFault)
	})
}

func TestConfigIsChecked(t *testing.T) {
	srv := redistest.Start(t)
	client := srv.Client(t)
	for _, cfg := range []Config{
		{}, {Client: client, Timeout: -1}, {Client: client, Workers: -1}, {Client: client, MaxBatch: -1},
		{Client: client, MaxBatch: 2000}, {Client: client, Linger: -1},
	} {
		if c, err := New(cfg); err == nil || c != nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func TestAcquireAndReleaseAllocateLittle(t *testing.T) {
	_, c, _ := realServer(t)
	w := newCall()
	d := c.Mutex()
	allocs := testing.AllocsPerRun(200, func() {
		d.Acquire(&w.op, w, AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		<-w.done
		d.Release(&w.op, w, ReleaseArgs{Name: "k", Owner: Owner{"a", 1}})
		<-w.done
	})
	// Two batches of one: a context with its timer each, and what rueidis needs.
	if allocs > 40 && !raceEnabled {
		t.Errorf("%v allocations per pair", allocs)
	}
	t.Logf("%v allocations per pair, unbatched", allocs)
}
