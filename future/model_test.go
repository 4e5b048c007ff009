package future

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestModel runs random sequences of operations on one future beside the state table of doc.go, written here a second
// time in the plainest way, and compares every answer and everything the Keeper heard.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, l := kept()
		f := p.Future()
		var (
			state = "pending"
			value int
			fails error
			heard []string
			early <-chan struct{}
		)
		outcome := func(what string, v int, err error) {
			switch state {
			case "ready":
				state = "claimed"
				heard = append(heard, "claimed 5")
				fallthrough
			case "claimed":
				if v != value || err != nil {
					t.Fatalf("%s = %v, %v, want %v", what, v, err, value)
				}
			default:
				if v != value || !errors.Is(err, fails) || (state == "canceled" && !errors.Is(err, ErrCanceled)) {
					t.Fatalf("%s = %v, %v in %s, want %v, %v", what, v, err, state, value, fails)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"settle": func(t *rapid.T) {
				if got, want := p.Settle(5, nil), state == "pending"; got != want {
					t.Fatalf("Settle = %v in %s", got, state)
				} else if want {
					state, value = "ready", 5
				}
			},
			"fail": func(t *rapid.T) {
				if got, want := p.Settle(6, errBoom), state == "pending"; got != want {
					t.Fatalf("Settle = %v in %s", got, state)
				} else if want {
					state, value, fails = "failed", 6, errBoom
				}
			},
			"cancel": func(t *rapid.T) {
				settled := state == "ready"
				if got, want := f.Cancel(errCause), state == "pending" || settled; got != want {
					t.Fatalf("Cancel = %v in %s", got, state)
				} else if want {
					if settled {
						heard = append(heard, "canceled 5 true: "+wentHome)
					} else {
						heard = append(heard, "canceled 0 false: "+wentHome)
					}
					state, value, fails = "canceled", 0, errCause
				}
			},
			"try": func(t *rapid.T) {
				v, err, ok := f.TryGet()
				if ok != (state != "pending") {
					t.Fatalf("TryGet ok = %v in %s", ok, state)
				}
				if ok {
					outcome("TryGet", v, err)
				}
			},
			"get": func(t *rapid.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				cancel(errLate)
				v, err := f.Get(ctx)
				if state == "pending" {
					if err != errLate {
						t.Fatalf("Get = %v, %v", v, err)
					}
					return
				}
				outcome("Get", v, err)
			},
			"done": func(t *rapid.T) {
				if c := f.Done(); early == nil {
					early = c
				} else if c != early {
					t.Fatal("another Done channel")
				}
			},
			"": func(t *rapid.T) {
				if done := state != "pending"; f.IsDone() != done || (early != nil && isClosed(early) != done) {
					t.Fatalf("done is %v in %s", f.IsDone(), state)
				}
				if p.Claimed() != (state == "claimed") {
					t.Fatalf("Claimed = %v in %s", p.Claimed(), state)
				}
				if !slices.Equal(l.events, heard) {
					t.Fatalf("keeper heard %q, want %q", l.events, heard)
				}
			},
		})
	})
}

var errLate = errors.New("late")
