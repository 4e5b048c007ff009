package future

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
)

// Callbacks run in the order of registration, one at a time, on a goroutine that is neither the settling nor the
// registering one: those two go on while the first callback still blocks.
func TestCallbacksFIFO(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := kept()
		f := p.Future()
		gate := make(chan struct{})
		var ran []int
		for i := range 5 {
			f.OnComplete(func(v int, err error) {
				if v != 7 || err != nil {
					t.Errorf("callback got %v, %v", v, err)
				}
				if i == 0 {
					<-gate
				}
				ran = append(ran, i)
			})
		}
		l.want(t)
		p.Settle(7, nil) // would block here for ever if it ran callbacks itself
		synctest.Wait()
		if len(ran) != 0 {
			t.Errorf("%v ran before the first returned", ran)
		}
		for i := 5; i < 8; i++ { // and these would block if they ran at registration; they join the running ones
			f.OnComplete(func(int, error) { ran = append(ran, i) })
		}
		synctest.Wait()
		if len(ran) != 0 {
			t.Errorf("%v overtook the first", ran)
		}
		close(gate)
		synctest.Wait()
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(ran, want) {
			t.Errorf("order %v, want %v", ran, want)
		}
		l.want(t, "claimed 7")
	})
}

// One goroutine runs them all.
func TestCallbacksOneGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, _ := kept()
		ran := make(map[string]int)
		for range 1000 {
			p.Future().OnComplete(func(int, error) {
				var stack [64]byte
				name, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte(" ["))
				ran[string(name)]++
			})
		}
		p.Settle(1, nil)
		synctest.Wait()
		if len(ran) != 1 {
			t.Errorf("1000 callbacks ran on %d goroutines", len(ran))
		}
		for name, n := range ran {
			if n != 1000 {
				t.Errorf("%d callbacks ran on %s", n, name)
			}
		}
	})
}

// After completion, also long after the first callbacks have run.
func TestCallbackAfterCompletion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := Failed[int](errBoom)
		for range 2 {
			gate := make(chan struct{})
			var ran []int
			f.OnComplete(func(_ int, err error) { // blocks here if it ran on this goroutine
				<-gate
				wantErr(t, err, errBoom)
				ran = append(ran, 1)
			})
			f.OnComplete(func(int, error) { ran = append(ran, 2) })
			close(gate)
			synctest.Wait()
			if !slices.Equal(ran, []int{1, 2}) {
				t.Errorf("ran %v", ran)
			}
		}
	})
}

// A callback may register, stop, cancel and read: no lock is held while it runs.
func TestCallbackMayUseTheFuture(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, _ := kept()
		f := p.Future()
		var ran []string
		var stopLast func() bool
		f.OnComplete(func(int, error) {
			ran = append(ran, "first")
			f.OnComplete(func(int, error) { ran = append(ran, "nested") })
			wantGet(t, f, 1)
			if f.Cancel(nil) {
				t.Error("canceled what was delivered")
			}
			if !stopLast() {
				t.Error("could not stop one that had not started")
			}
		})
		f.OnComplete(func(int, error) { ran = append(ran, "second") })
		stopLast = f.OnComplete(func(int, error) { ran = append(ran, "stopped") })
		p.Settle(1, nil)
		synctest.Wait()
		if want := []string{"first", "second", "nested"}; !slices.Equal(ran, want) {
			t.Errorf("ran %q, want %q", ran, want)
		}
	})
}

// Every subset of four callbacks stopped: those do not run, the others do, in order.
func TestStop(t *testing.T) {
	for subset := range 1 << 4 {
		bubble(t, func(t *testing.T) {
			p, l := kept()
			var ran, want []int
			stops := make([]func() bool, 4)
			for i := range stops {
				stops[i] = p.Future().OnComplete(func(int, error) { ran = append(ran, i) })
			}
			for i, stop := range stops {
				if subset&(1<<i) == 0 {
					want = append(want, i)
					continue
				}
				if !stop() || stop() {
					t.Errorf("subset %04b: stop of %d is not true once", subset, i)
				}
			}
			p.Settle(1, nil)
			synctest.Wait()
			if !slices.Equal(ran, want) {
				t.Errorf("subset %04b: ran %v, want %v", subset, ran, want)
			}
			for i, stop := range stops {
				if stop() {
					t.Errorf("subset %04b: stop of %d says true afterwards", subset, i)
				}
			}
			if len(want) == 0 {
				l.want(t) // nobody was delivered to, so nobody claimed
			} else {
				l.want(t, "claimed 1")
			}
		})
	}
}

// stop while fn runs is too late, and does not wait.
func TestStopRunning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		gate := make(chan struct{})
		stop := Resolved(1).OnComplete(func(int, error) { <-gate })
		synctest.Wait()
		if stop() {
			t.Error("stop = true for a callback that had started")
		}
		close(gate)
	})
}

// Delivery is the claim: a Cancel while the second callback still waits its turn is too late, because the first was
// delivered; a Cancel before any delivery is what the callback sees.
func TestCallbackClaimsAtDelivery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p, l := kept()
		f := p.Future()
		gate, seen := make(chan struct{}), make(chan error, 1)
		f.onDone(func() { <-gate }) // takes nothing, and holds up what follows
		f.OnComplete(func(v int, err error) {
			if v != 0 {
				t.Errorf("callback got %d", v)
			}
			seen <- err
		})
		p.Settle(1, nil)
		synctest.Wait()
		l.want(t)
		if !f.Cancel(errCause) {
			t.Error("Cancel = false before delivery")
		}
		l.want(t, "canceled 1 true: the caller went home")
		close(gate)
		wantErr(t, <-seen, ErrCanceled, errCause)
	})
	bubble(t, func(t *testing.T) {
		p, l := kept()
		gate := make(chan struct{})
		p.Future().OnComplete(func(int, error) { <-gate })
		p.Future().OnComplete(func(v int, err error) {
			if v != 1 || err != nil {
				t.Errorf("second callback got %v, %v", v, err)
			}
		})
		p.Settle(1, nil)
		synctest.Wait()
		if p.Future().Cancel(errCause) {
			t.Error("Cancel = true after a delivery")
		}
		close(gate)
		synctest.Wait()
		l.want(t, "claimed 1")
	})
}

func TestCallbackSeesErrors(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got []error
		note := func(_ int, err error) { got = append(got, err) }
		failing, canceling := new(Promise[int]), new(Promise[int])
		failing.Future().OnComplete(note)
		failing.Settle(0, errBoom)
		synctest.Wait()
		canceling.Future().OnComplete(note)
		canceling.Future().Cancel(errCause)
		synctest.Wait()
		if len(got) != 2 || got[0] != errBoom || !errors.Is(got[1], ErrCanceled) || !errors.Is(got[1], errCause) {
			t.Errorf("callbacks saw %v", got)
		}
	})
}

func TestOnCompleteNil(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil callback was accepted")
		}
	}()
	Resolved(1).OnComplete(nil)
}
