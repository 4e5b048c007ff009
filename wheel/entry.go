package wheel

import "time"

// Entry is one deadline. It is intrusive: put it by value into the struct that it is about, and let Value lead back to
// that struct. The zero value is ready. An entry must not be copied while it is scheduled, and belongs to one wheel at a
// time.
//
// Value is the caller's: the wheel never touches it. Everything else is guarded by the wheel, so Schedule and Cancel
// of the same entry may race from any goroutines.
type Entry[T any] struct {
	Value T

	_     noCopy
	in    *bucket[T]
	due   time.Duration
	pos   int32 // index in its bucket, or in the near heap
	state entryState
	exact bool
}

// entryState is where an entry can be found.
type entryState uint8

const (
	detached entryState = iota
	inBucket            // of a slot, or ready
	inHeap              // near
)

// noCopy makes go vet report copies of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
