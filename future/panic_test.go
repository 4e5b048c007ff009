package future

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// A panic in one callback goes to the handler and does not stop the others, nor does runtime.Goexit.
func TestCallbackPanics(t *testing.T) {
	var caught []*PanicError
	previous := SetPanicHandler(func(e *PanicError) { caught = append(caught, e) })
	t.Cleanup(func() { SetPanicHandler(previous) })
	bubble(t, func(t *testing.T) {
		p := new(Promise[int])
		var ran []int
		f := p.Future()
		f.OnComplete(func(int, error) { ran = append(ran, 0) })
		f.OnComplete(func(int, error) { panic(errBoom) })
		f.OnComplete(func(int, error) { ran = append(ran, 2) })
		f.OnComplete(func(int, error) { runtime.Goexit() })
		f.OnComplete(func(int, error) { ran = append(ran, 4) })
		p.Settle(1, nil)
		synctest.Wait()
		f.OnComplete(func(int, error) { ran = append(ran, 5) })
		synctest.Wait()
		if want := []int{0, 2, 4, 5}; !slices.Equal(ran, want) {
			t.Errorf("ran %v, want %v", ran, want)
		}
	})
	if len(caught) != 1 || !errors.Is(caught[0], errBoom) || !bytes.Contains(caught[0].Stack, []byte("TestCallbackPanics")) {
		t.Fatalf("handler got %v", caught)
	}
}

func TestDefaultPanicHandler(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)
	previous := SetPanicHandler(nil)
	t.Cleanup(func() { SetPanicHandler(previous) })
	bubble(t, func(t *testing.T) {
		Resolved(1).OnComplete(func(int, error) { panic("splash") })
	})
	for _, want := range []string{"level=ERROR", "splash", "TestDefaultPanicHandler"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("log %q lacks %q", out.String(), want)
		}
	}
}

func TestSetPanicHandlerReturnsPrevious(t *testing.T) {
	original := SetPanicHandler(nil)
	t.Cleanup(func() { SetPanicHandler(original) })
	if SetPanicHandler(nil) != nil {
		t.Error("the default is not nil")
	}
	called := 0
	SetPanicHandler(func(*PanicError) { called++ })
	previous := SetPanicHandler(nil)
	if previous == nil {
		t.Fatal("the handler was not returned")
	}
	if previous(nil); called != 1 {
		t.Error("another handler was returned")
	}
}

func TestPanicError(t *testing.T) {
	e := &PanicError{Value: errBoom}
	if e.Error() != "future: panic: boom" || e.Unwrap() != errBoom {
		t.Errorf("%q unwraps to %v", e, e.Unwrap())
	}
	if e := (&PanicError{Value: 3}); e.Error() != "future: panic: 3" || e.Unwrap() != nil {
		t.Errorf("%q unwraps to %v", e, e.Unwrap())
	}
}

// A function that does not return fails the derived future, whichever kind made it; the callbacks after it still run.
func TestFunctionsThatDoNotReturn(t *testing.T) {
	endings := map[string]struct {
		end   func()
		check func(t *testing.T, err error)
	}{
		"panic": {func() { panic(errBoom) }, func(t *testing.T, err error) {
			e, ok := errors.AsType[*PanicError](err)
			if !ok || !errors.Is(err, errBoom) || !bytes.Contains(e.Stack, []byte("TestFunctionsThatDoNotReturn")) {
				t.Errorf("error %v, want a PanicError with value and stack", err)
			}
		}},
		"nil panic": {func() { panic(nil) }, func(t *testing.T, err error) {
			if _, ok := errors.AsType[*runtime.PanicNilError](err); !ok {
				t.Errorf("error %v, want PanicNilError", err)
			}
		}},
		"Goexit": {runtime.Goexit, func(t *testing.T, err error) { wantErr(t, err, errGoexit) }},
	}
	makers := map[string]func(f *Future[int], end func()) *Future[int]{
		"Map": func(f *Future[int], end func()) *Future[int] {
			return Map(f, func(v int) (int, error) { end(); return v, nil })
		},
		"Then": func(f *Future[int], end func()) *Future[int] {
			return Then(f, func(int) *Future[int] { end(); return f })
		},
		"Go": func(_ *Future[int], end func()) *Future[int] {
			return Go(context.Background(), func(context.Context) (int, error) { end(); return 1, nil })
		},
	}
	for how, ending := range endings {
		for who, derive := range makers {
			t.Run(who+" "+how, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					f := Resolved(1)
					d := derive(f, ending.end)
					after := false
					f.OnComplete(func(int, error) { after = true })
					v, err := d.Get(t.Context())
					if v != 0 || err == nil {
						t.Errorf("Get = %v, %v", v, err)
					}
					ending.check(t, err)
					synctest.Wait()
					if !after {
						t.Error("the next callback did not run")
					}
				})
			})
		}
	}
}
