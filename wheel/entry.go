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
	link  link[T]
	due   time.Duration
	pos   int // index in the near heap
	state entryState
	exact bool
}

// entryState is where an entry can be found.
type entryState uint8

const (
	detached entryState = iota
	inList              // of a slot, or ready
	inHeap              // near
)

// link is a node of a circular list. It knows its entry because Go has no way back from a field to its struct.
type link[T any] struct {
	prev, next *link[T]
	entry      *Entry[T] // nil in a list's root
}

func (l *link[T]) unlink() {
	l.prev.next, l.next.prev = l.next, l.prev
	l.prev, l.next = nil, nil
}

// list is a doubly linked list of entries, oldest first. A node can be unlinked without knowing which list it is in,
// which is what allows a whole list to change hands in O(1).
type list[T any] struct {
	root link[T]
}

func (l *list[T]) init() { l.root.prev, l.root.next = &l.root, &l.root }

func (l *list[T]) empty() bool { return l.root.next == &l.root }

// first is the oldest entry, nil when the list is empty.
func (l *list[T]) first() *Entry[T] { return l.root.next.entry }

func (l *list[T]) push(e *Entry[T]) {
	n, last := &e.link, l.root.prev
	n.entry, n.prev, n.next = e, last, &l.root
	last.next, l.root.prev = n, n
}

// take moves everything from another list behind what is here.
func (l *list[T]) take(from *list[T]) {
	if from.empty() {
		return
	}
	last, head, tail := l.root.prev, from.root.next, from.root.prev
	last.next, head.prev = head, last
	tail.next, l.root.prev = &l.root, tail
	from.init()
}

// noCopy makes go vet report copies of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
