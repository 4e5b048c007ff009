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
	pos   int32 // index in the near heap
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

// link is an entry's place in a circular list.
type link[T any] struct{ prev, next *Entry[T] }

func (l *link[T]) unlink() {
	l.prev.link.next, l.next.link.prev = l.next, l.prev
	l.prev, l.next = nil, nil
}

// list is a doubly linked list of entries, oldest first. A node can be unlinked without knowing which list it is in,
// which is what allows a whole list to change hands in O(1). The root is an entry that is never due: there are few lists
// and many entries, whose links can then point to entries directly.
type list[T any] struct {
	root Entry[T]
}

func (l *list[T]) init() { l.root.link = link[T]{&l.root, &l.root} }

func (l *list[T]) empty() bool { return l.root.link.next == &l.root }

// first is the oldest entry, nil when the list is empty.
func (l *list[T]) first() *Entry[T] {
	if l.empty() {
		return nil
	}
	return l.root.link.next
}

func (l *list[T]) push(e *Entry[T]) {
	last := l.root.link.prev
	e.link = link[T]{last, &l.root}
	last.link.next, l.root.link.prev = e, e
}

// take moves everything from another list behind what is here.
func (l *list[T]) take(from *list[T]) {
	if from.empty() {
		return
	}
	last, head, tail := l.root.link.prev, from.root.link.next, from.root.link.prev
	last.link.next, head.link.prev = head, last
	tail.link.next, l.root.link.prev = &l.root, tail
	from.init()
}

// noCopy makes go vet report copies of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
