package future

import (
	"context"
	"testing"
	"testing/synctest"
)

// Claimed comes before the claimer has the value, once, however many read.
func TestClaimedOnceAndFirst(t *testing.T) {
	ways := map[string]func(f *Future[int]) int{
		"Get":    func(f *Future[int]) int { v, _ := f.Get(context.Background()); return v },
		"TryGet": func(f *Future[int]) int { v, _, _ := f.TryGet(); return v },
		"OnComplete": func(f *Future[int]) int {
			c := make(chan int)
			f.OnComplete(func(v int, _ error) { c <- v })
			return <-c
		},
		"Map": func(f *Future[int]) int {
			c := make(chan int)
			Map(f, func(v int) (int, error) { c <- v; return v, nil })
			return <-c
		},
		"Then": func(f *Future[int]) int {
			c := make(chan int)
			Then(f, func(v int) *Future[int] { c <- v; return Resolved(v) })
			return <-c
		},
		"All":  func(f *Future[int]) int { v, _ := All(context.Background(), f); return v[0] },
		"Any":  func(f *Future[int]) int { v, _ := Any(context.Background(), f); return v },
		"Race": func(f *Future[int]) int { v, _ := Race(context.Background(), f); return v },
	}
	for name, read := range ways {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p, l := kept()
				p.Settle(7, nil)
				if p.Claimed() {
					t.Error("claimed before anybody read")
				}
				if v := read(p.Future()); v != 7 {
					t.Errorf("read %d", v)
				}
				l.want(t, "claimed 7") // it was there when read returned
				if !p.Claimed() {
					t.Error("not claimed after a read")
				}
				if p.Future().Cancel(errCause) {
					t.Error("canceled a value that somebody has")
				}
				read(p.Future())
				l.want(t)
			})
		})
	}
}

// What only looks does not claim.
func TestObservingIsNotClaiming(t *testing.T) {
	p, l := kept()
	f := p.Future()
	f.Done()
	if stop := f.OnComplete(func(int, error) {}); !stop() { // before the outcome is there: afterwards it would run at once
		t.Error("a callback ran that had nothing to see")
	}
	p.Settle(7, nil)
	f.IsDone()
	<-f.Done()
	for range Completed(t.Context(), f) {
	}
	l.want(t)
	other := Failed[int](errBoom)
	_, err := All(t.Context(), other, f)
	wantErr(t, err, errBoom)
	l.want(t, "canceled 7 true: boom") // All waited for it, and gave it back unclaimed
}

// nosy is a Keeper that uses the future from inside every method, which a lock held around the call would not survive.
type nosy struct {
	ledger
	f *Future[int]
}

func (n *nosy) poke() {
	if !n.f.mu.TryLock() {
		n.add("called with the future's lock held")
		return
	}
	n.f.mu.Unlock()
	n.f.Done()
	n.f.Cancel(errBoom)
	n.f.TryGet()
	n.f.OnComplete(func(int, error) {})()
}

func (n *nosy) Claimed(v int)                       { n.ledger.Claimed(v); n.poke() }
func (n *nosy) Canceled(cause error, v int, s bool) { n.ledger.Canceled(cause, v, s); n.poke() }
func (n *nosy) Discarded(v int)                     { n.ledger.Discarded(v); n.poke() }

func TestKeeperMayUseTheFuture(t *testing.T) {
	tests := []struct {
		name string
		do   func(p *Promise[int])
		want string
	}{
		{"claim", func(p *Promise[int]) { p.Settle(1, nil); p.Future().TryGet() }, "claimed 1"},
		{"cancel", func(p *Promise[int]) { p.Future().Cancel(errCause) }, "canceled 0 false: the caller went home"},
		{"cancel ready", func(p *Promise[int]) { p.Settle(1, nil); p.Future().Cancel(errCause) },
			"canceled 1 true: the caller went home"},
		{"discard", func(p *Promise[int]) { p.Settle(0, errBoom); p.Future().discard(2) }, "discarded 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := new(Promise[int])
				n := &nosy{f: p.Future()}
				p.Init(n)
				tt.do(p)
				synctest.Wait()
				n.want(t, tt.want)
			})
		})
	}
}

// rude is a Keeper that breaks the rules.
type rude struct{ ledger }

func (*rude) Canceled(error, int, bool) { panic("rude") }

// A Keeper that panics hurts who canceled, not the readers.
func TestPanickingKeeperLeavesNoSleeper(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := new(Promise[int])
		p.Init(new(rude))
		woke := make(chan error)
		go func() {
			_, err := p.Future().Get(context.Background())
			woke <- err
		}()
		synctest.Wait()
		func() {
			defer func() {
				if recover() != "rude" {
					t.Error("the panic did not reach who canceled")
				}
			}()
			p.Future().Cancel(errCause)
		}()
		wantErr(t, <-woke, ErrCanceled)
	})
}
