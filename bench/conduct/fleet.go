package conduct

import (
	"context"
	"errors"
	"fmt"
)

// Fleet is the performers: it knows how to start those of each system, and keeps
// those that are to be kept.
type Fleet struct {
	commands map[string]Command
	idle     map[string][]*child
}

// NewFleet starts with no system.
func NewFleet() *Fleet {
	return &Fleet{commands: map[string]Command{}, idle: map[string][]*child{}}
}

// Use says how to start the performers of a system.
func (f *Fleet) Use(system string, c Command) { f.commands[system] = c }

// Knows tells whether there are performers of a system.
func (f *Fleet) Knows(system string) bool {
	_, ok := f.commands[system]
	return ok
}

// take returns n performers of a system.
func (f *Fleet) take(ctx context.Context, system string, n int) ([]*child, error) {
	c, ok := f.commands[system]
	if !ok {
		return nil, fmt.Errorf("there are no performers of %s", system)
	}
	kept := min(n, len(f.idle[system]))
	children := append([]*child(nil), f.idle[system][:kept]...)
	f.idle[system] = f.idle[system][kept:]
	for len(children) < n {
		child, err := spawn(ctx, c)
		if err != nil {
			f.drop(children)
			return nil, err
		}
		children = append(children, child)
	}
	return children, nil
}

// giveBack ends performers that did their trial, or keeps them for the next.
func (f *Fleet) giveBack(system string, children []*child) error {
	if f.commands[system].Keep {
		f.idle[system] = append(f.idle[system], children...)
		return nil
	}
	return endAll(children)
}

// drop kills performers after a failure.
func (f *Fleet) drop(children []*child) {
	for _, c := range children {
		c.kill()
	}
}

// Close ends the performers that were kept.
func (f *Fleet) Close() error {
	var errs []error
	for system, children := range f.idle {
		errs = append(errs, endAll(children))
		delete(f.idle, system)
	}
	return errors.Join(errs...)
}

func endAll(children []*child) error {
	var errs []error
	for _, c := range children {
		errs = append(errs, c.end())
	}
	return errors.Join(errs...)
}

// Version returns what the performers of a system said they perform.
func (f *Fleet) Version(system string) string { return f.commands[system].Version }
