package future

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// PanicError is a panic turned into an error: a future made by [Map], [Then] or [Go] fails with a *PanicError when its
// function panics. Find it with [errors.As].
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // the stack of the goroutine that panicked, as debug.Stack formats it
}

// Error returns one line with the panic's value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("future: panic: %v", e.Value) }

// Unwrap returns Value if it is an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// errGoexit is the outcome of a function that never returned.
var errGoexit = errors.New("future: the function called runtime.Goexit")

var panicHandler atomic.Pointer[func(*PanicError)]

// SetPanicHandler sets what happens with a panic in a callback of [Future.OnComplete], which has no derived future to
// fail, and returns the handler set before. A nil handler, also as the result, stands for the default: slog.Error with
// the stack. The handler is called on the callback's goroutine; if it panics itself, the process ends, which is how to
// crash on purpose. It is one setting for the process and safe for concurrent use.
func SetPanicHandler(h func(*PanicError)) (previous func(*PanicError)) {
	var next *func(*PanicError)
	if h != nil {
		next = &h
	}
	if old := panicHandler.Swap(next); old != nil {
		return *old
	}
	return nil
}

// reportPanic is deferred around code whose panic has nobody else to go to.
func reportPanic() {
	p := recover()
	if p == nil {
		return
	}
	e := &PanicError{Value: p, Stack: debug.Stack()}
	if h := panicHandler.Load(); h != nil {
		(*h)(e)
		return
	}
	slog.Error("future: panic in an OnComplete callback", "panic", e.Value, "stack", string(e.Stack))
}

// guard runs fn and hands its outcome to settle, whichever way fn ends: a panic is a *PanicError, and
// runtime.Goexit, after which nothing but deferred functions runs, is errGoexit.
func guard[R any](fn func() (R, error), settle func(R, error)) {
	var r R
	err := errGoexit
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p, Stack: debug.Stack()}
		}
		settle(r, err)
	}()
	r, err = fn()
}
