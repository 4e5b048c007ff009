package future

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoFutures is what [Any] and [Race] return when they are given nothing to wait for.
var ErrNoFutures = errors.New("future: no futures given")

// errSlower is the cause with which Any and Race cancel the others once there is a value.
var errSlower = fmt.Errorf("another future was first: %w", context.Canceled)

// All waits until all fs have succeeded and returns their values in the order of fs. The first error ends it: All
// cancels the others with that error as the cause and returns it. When ctx ends first, All cancels all of them with
// [context.Cause] of ctx and returns that; outcomes that are there are looked at before ctx is. No futures give no
// values and no error.
//
// Values are claimed only when all are there. Should somebody cancel one of them at that very moment, those that this
// call was first to claim go back to their producers ([Keeper.Discarded]), the rest is canceled, and the error is
// returned.
func All[T any](ctx context.Context, fs ...*Future[T]) ([]T, error) {
	c := collect(fs)
	for range fs {
		i, ok := c.next(ctx)
		if !ok {
			return nil, cancelAll(fs, context.Cause(ctx))
		}
		if err := fs[i].failure(); err != nil {
			return nil, cancelAll(fs, err)
		}
	}
	vs := make([]T, len(fs))
	mine := make([]bool, len(fs))
	for i, f := range fs {
		v, first, _, err := f.take()
		if err != nil {
			for j, v := range vs[:i] {
				if mine[j] {
					fs[j].discard(v)
				}
			}
			return nil, cancelAll(fs[i:], err)
		}
		vs[i], mine[i] = v, first
	}
	return vs, nil
}

// Any waits for the first of fs that succeeds, claims its value, cancels the others and returns it. If none succeeds
// it returns all their errors, joined in the order of fs. When ctx ends first, Any cancels all of them with
// [context.Cause] of ctx and returns that; outcomes that are there are looked at before ctx is. Without futures it
// returns [ErrNoFutures].
func Any[T any](ctx context.Context, fs ...*Future[T]) (T, error) {
	var none T
	if len(fs) == 0 {
		return none, ErrNoFutures
	}
	errs := make([]error, len(fs))
	c := collect(fs)
	for range fs {
		i, ok := c.next(ctx)
		if !ok {
			return none, cancelAll(fs, context.Cause(ctx))
		}
		v, _, _, err := fs[i].take()
		if err == nil {
			cancelAll(fs, errSlower)
			return v, nil
		}
		errs[i] = err
	}
	return none, errors.Join(errs...)
}

// Race waits for the first of fs that is done, whatever the outcome, cancels the others and returns it, claiming a
// success value. The others are canceled with its error as the cause, if it is one. When ctx ends first, Race cancels
// all of them with [context.Cause] of ctx and returns that; outcomes that are there are looked at before ctx is.
// Without futures it returns [ErrNoFutures].
func Race[T any](ctx context.Context, fs ...*Future[T]) (T, error) {
	var none T
	if len(fs) == 0 {
		return none, ErrNoFutures
	}
	i, ok := collect(fs).next(ctx)
	if !ok {
		return none, cancelAll(fs, context.Cause(ctx))
	}
	v, _, _, err := fs[i].take()
	if err != nil {
		cancelAll(fs, err)
	} else {
		cancelAll(fs, errSlower)
	}
	return v, err
}

// cancelAll cancels whatever can be canceled: nothing that somebody has taken. It returns cause.
func cancelAll[T any](fs []*Future[T], cause error) error {
	for _, f := range fs {
		f.Cancel(cause)
	}
	return cause
}
