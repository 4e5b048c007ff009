package future

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// book counts what becomes of one value: a Keeper for the contended tests.
type book struct {
	claimed, canceled, returned, discarded atomic.Int32
}

func (b *book) Claimed(int) { b.claimed.Add(1) }
func (b *book) Canceled(_ error, _ int, settled bool) {
	b.canceled.Add(1)
	if settled {
		b.returned.Add(1)
	}
}
func (b *book) Discarded(int) { b.discarded.Add(1) }

// stagger lets the goroutines of a round meet at ever different points.
func stagger(n int) {
	for range n {
		runtime.Gosched()
	}
}

// Claim against cancel against settle, 20 000 times: the value is with the readers or back at the producer, never
// both, never neither, and all readers tell the same story.
func TestClaimCancelSettleConcurrentSafe(t *testing.T) {
	const rounds = 20_000
	rng := rand.New(rand.NewPCG(7, 11))
	delivered := 0
	for round := range rounds {
		p, b := new(Promise[int]), new(book)
		p.Init(b)
		f := p.Future()
		var wg sync.WaitGroup
		var got [3]int // 1: value, 2: canceled
		var settled, canceled bool
		d := [4]int{rng.IntN(4), rng.IntN(4), rng.IntN(6), rng.IntN(4)}
		wg.Go(func() { stagger(d[0]); settled = p.Settle(1, nil) })
		wg.Go(func() { stagger(d[2]); canceled = f.Cancel(errCause) })
		see := func(i, v int, err error) {
			got[i] = 2
			if v == 1 && err == nil {
				got[i] = 1
			}
		}
		wg.Go(func() { v, err := f.Get(context.Background()); see(0, v, err) })
		wg.Go(func() {
			stagger(d[1])
			<-f.Done()
			v, err, _ := f.TryGet()
			see(1, v, err)
		})
		called := make(chan struct{})
		wg.Go(func() {
			stagger(d[3])
			f.OnComplete(func(v int, err error) { see(2, v, err); close(called) })
		})
		wg.Wait()
		<-called

		taken := b.claimed.Load() == 1
		back := 0
		if !settled {
			back++ // Settle said so: the producer has it
		}
		back += int(b.returned.Load())
		if b.claimed.Load() > 1 || b.canceled.Load() > 1 || b.discarded.Load() != 0 {
			t.Fatalf("round %d: keeper called twice, or for nothing", round)
		}
		if taken == (back == 1) || back > 1 {
			t.Fatalf("round %d: claimed %v, given back %d times", round, taken, back)
		}
		if canceled == taken || canceled != (b.canceled.Load() == 1) {
			t.Fatalf("round %d: Cancel = %v, claimed %v", round, canceled, taken)
		}
		want := [3]int{2, 2, 2}
		if taken {
			want = [3]int{1, 1, 1}
			delivered++
		}
		if got != want {
			t.Fatalf("round %d: readers saw %v, want %v", round, got, want)
		}
	}
	if delivered == 0 || delivered == rounds {
		t.Errorf("%d of %d rounds delivered: the race was not run", delivered, rounds)
	}
}

// A reader against a canceler or a second reader, at a value that is ready, as close together as two cores allow:
// nothing is created or woken in between, so that the compare-and-swap itself is what decides.
func TestClaimTightConcurrentSafe(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("needs two cores: on one, nothing happens between two instructions")
	}
	const rounds = 20_000
	type round struct {
		n    int
		p    Promise[int]
		b    book
		v    int
		done atomic.Bool
	}
	var current atomic.Pointer[round]
	// spin waits without leaving the core, unless it takes too long for there being two.
	spin := func(until func() bool) {
		for n := 1; !until(); n++ {
			if n%1000 == 0 {
				runtime.Gosched()
			}
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for last := 0; last < rounds; {
			var r *round
			spin(func() bool { r = current.Load(); return r != nil && r.n != last })
			r.v, _, _ = r.p.Future().TryGet()
			last = r.n
			r.done.Store(true)
		}
	})
	rng := rand.New(rand.NewPCG(29, 31))
	won, lost := 0, 0 // cancels
	lead := 50        // how long a reader needs to notice, found by trying
	start := time.Now()
	// On a loaded machine a spinning goroutine waits for one that is not on a core: then fewer rounds have to do.
	for n := 1; n < rounds && time.Since(start) < time.Second; n++ {
		r := &round{n: n}
		r.p.Init(&r.b)
		r.p.Settle(1, nil)
		f := r.p.Future()
		current.Store(r)
		for range rng.IntN(2 * lead) {
			current.Load()
		}
		canceled := false
		if n%2 == 0 {
			if canceled = f.Cancel(errCause); canceled {
				won++
				lead = min(lead+1+lead/16, 5_000)
			} else {
				lost++
				lead = max(lead-1-lead/16, 1)
			}
		} else if v, err, ok := f.TryGet(); v != 1 || err != nil || !ok {
			t.Errorf("round %d: TryGet = %v, %v, %v", n, v, err, ok)
		}
		spin(r.done.Load)
		claims, returns := r.b.claimed.Load(), r.b.returned.Load()
		if claims+returns != 1 || canceled != (returns == 1) {
			t.Errorf("round %d: claimed %d times, given back %d, Cancel = %v", n, claims, returns, canceled)
		}
		if r.v != int(claims) {
			t.Errorf("round %d: reader saw %d, claimed %d times", n, r.v, claims)
		}
	}
	current.Store(&round{n: rounds}) // the last one, for the reader alone
	wg.Wait()
	t.Logf("cancel won %d times and lost %d times", won, lost)
	if won == 0 || lost == 0 {
		t.Skip("this machine gave the two no chance to meet")
	}
}

// The end of a reader's ctx against the settlement: a pooled waiter that went back with a signal still to come would
// wake a later reader of another future, who would then return nothing at all.
func TestPooledWaitersConcurrentSafe(t *testing.T) {
	const rounds = 20_000
	rng := rand.New(rand.NewPCG(3, 5))
	ended := 0
	for round := range rounds {
		f, settle := New[int]()
		ctx, cancel := context.WithCancelCause(context.Background())
		var wg sync.WaitGroup
		d := [2]int{rng.IntN(4), rng.IntN(4)}
		wg.Go(func() { stagger(d[0]); settle(round+1, nil) })
		wg.Go(func() { stagger(d[1]); cancel(errCause) })
		v, err := f.Get(ctx)
		if (v != round+1 || err != nil) && (v != 0 || err != errCause) {
			t.Fatalf("round %d: Get = %v, %v", round, v, err)
		}
		if err != nil {
			ended++
		}
		if v, err := f.Get(context.Background()); v != round+1 || err != nil {
			t.Fatalf("round %d: second Get = %v, %v", round, v, err)
		}
		wg.Wait()
	}
	if ended == 0 || ended == rounds {
		t.Errorf("%d of %d waits ended by ctx: the race was not run", ended, rounds)
	}
}

// The same account through Map and Then: whoever cancels or reads the derived future, whenever, the value of the one
// promise at the end of it is delivered or comes back, exactly one of the two. The bubble is for its Wait: by then
// every callback has run.
func TestDerivedAccountConcurrentSafe(t *testing.T) {
	same := func(v int) (int, error) { return v, nil }
	after := func(f *Future[int], asked *bool) *Future[int] {
		return Then(Resolved(0), func(int) *Future[int] { *asked = true; return f })
	}
	derive := map[string]func(f *Future[int], asked *bool) *Future[int]{
		"Map":  func(f *Future[int], asked *bool) *Future[int] { *asked = true; return Map(f, same) },
		"Then": after,
		"chain": func(f *Future[int], asked *bool) *Future[int] {
			return Map(after(Map(f, same), asked), same)
		},
	}
	for name, derive := range derive {
		t.Run(name, func(t *testing.T) {
			const rounds = 3_000
			rng := rand.New(rand.NewPCG(13, 17))
			delivered := 0
			synctest.Test(t, func(t *testing.T) {
				for round := range rounds {
					p, b := new(Promise[int]), new(book)
					p.Init(b)
					var settled, asked bool
					d := derive(p.Future(), &asked)
					n := [3]int{rng.IntN(6), rng.IntN(12), rng.IntN(12)}
					go func() { stagger(n[0]); settled = p.Settle(1, nil) }()
					go func() { stagger(n[1]); d.Cancel(errCause) }()
					stagger(n[2])
					v, err := d.Get(context.Background())
					synctest.Wait()
					if !asked {
						// The Cancel came before Then asked for p's future, so that is nobody's business here.
						wantErr(t, err, ErrCanceled, errCause)
						continue
					}
					took, back := 0, int(b.returned.Load()+b.discarded.Load())
					if !settled {
						back++
					}
					if err == nil {
						took++
						delivered++
						if v != 1 {
							t.Fatalf("round %d: value %d", round, v)
						}
					}
					if took+back != 1 {
						t.Fatalf("round %d: delivered %d times, back %d times (claimed %d, canceled %d, discarded %d, settled %v)",
							round, took, back, b.claimed.Load(), b.canceled.Load(), b.discarded.Load(), settled)
					}
				}
			})
			if delivered == 0 || delivered == rounds {
				t.Errorf("%d of %d rounds delivered: the race was not run", delivered, rounds)
			}
		})
	}
}

// Three producers, somebody who cancels one of them, and a ctx that ends: what does not get out is back, all of it.
func TestCombinatorAccountConcurrentSafe(t *testing.T) {
	combine := map[string]func(ctx context.Context, fs ...*Future[int]) int{
		"All":  func(ctx context.Context, fs ...*Future[int]) int { vs, _ := All(ctx, fs...); return len(vs) },
		"Any":  func(ctx context.Context, fs ...*Future[int]) int { v, _ := Any(ctx, fs...); return min(v, 1) },
		"Race": func(ctx context.Context, fs ...*Future[int]) int { v, _ := Race(ctx, fs...); return min(v, 1) },
	}
	for name, combine := range combine {
		t.Run(name, func(t *testing.T) {
			const rounds, n = 3_000, 3
			rng := rand.New(rand.NewPCG(19, 23))
			for round := range rounds {
				ctx, cancel := context.WithCancel(context.Background())
				var books [n]book
				var settled [n]bool
				ps, fs := make([]Promise[int], n), make([]*Future[int], n)
				var wg sync.WaitGroup
				for i := range ps {
					ps[i].Init(&books[i])
					fs[i] = ps[i].Future()
					d := rng.IntN(8)
					wg.Go(func() { stagger(d); settled[i] = ps[i].Settle(i+1, nil) })
				}
				d := [2]int{rng.IntN(12), rng.IntN(16)}
				wg.Go(func() { stagger(d[0]); fs[1].Cancel(errCause) })
				wg.Go(func() { stagger(d[1]); cancel() })
				took := combine(ctx, fs...)
				wg.Wait()
				back := 0
				for i := range books {
					b := &books[i]
					if !settled[i] {
						back++
					}
					back += int(b.returned.Load() + b.discarded.Load())
					if b.claimed.Load()+b.canceled.Load() != 1 {
						t.Fatalf("round %d: future %d claimed %d times, canceled %d times",
							round, i, b.claimed.Load(), b.canceled.Load())
					}
				}
				if took+back != n {
					t.Fatalf("round %d: delivered %d, given back %d of %d", round, took, back, n)
				}
			}
		})
	}
}
