package wheel

// bucket is the entries of one slot, in the order in which they were scheduled, except that one which is canceled or
// moved gives its place to the last. It is an array and not a list for the sake of memory that is not in the cache: an
// entry is taken out without touching its neighbours, and when a slot fires, the processor fetches the next entries while
// it looks at the first, which a list does not let it do.
//
// A slot that fires gives its whole bucket away, so that a hundred thousand entries become ready in no time.
type bucket[T any] struct {
	entries []*Entry[T]
	taken   int        // of them, from the front
	next    *bucket[T] // in a queue
}

func (b *bucket[T]) empty() bool { return b.taken == len(b.entries) }

func (b *bucket[T]) push(e *Entry[T]) {
	e.in, e.pos = b, int32(len(b.entries))
	b.entries = append(b.entries, e)
}

// remove takes out an entry that is in b.
func (b *bucket[T]) remove(e *Entry[T]) {
	last := len(b.entries) - 1
	moved := b.entries[last]
	b.entries[e.pos], moved.pos = moved, e.pos
	b.entries[last] = nil // no pointer stays behind for the collector
	b.entries = b.entries[:last]
	e.in = nil
}

// pop takes out the first entry.
func (b *bucket[T]) pop() *Entry[T] {
	e := b.entries[b.taken]
	b.entries[b.taken] = nil
	b.taken++
	e.in = nil
	return e
}

// buckets is those that became ready, oldest first, and empty ones to be used again.
type buckets[T any] struct {
	head, tail *bucket[T]
	blank      *bucket[T]
	blanks     int
}

const (
	// maxRoom is the most entries that a bucket which is kept has room for.
	maxRoom = 8192
	// maxBlank is the most buckets that are kept: as many as are in use when leases of half a minute are renewed.
	maxBlank = 128
)

// fresh is an empty bucket.
func (q *buckets[T]) fresh() *bucket[T] {
	b := q.blank
	if b == nil {
		return new(bucket[T])
	}
	q.blank, b.next = b.next, nil
	q.blanks--
	return b
}

// recycle takes back a bucket that is empty.
func (q *buckets[T]) recycle(b *bucket[T]) {
	b.entries, b.taken = b.entries[:0], 0
	if q.blanks == maxBlank {
		return
	}
	if cap(b.entries) > maxRoom {
		b.entries = nil
	}
	b.next, q.blank = q.blank, b
	q.blanks++
}

// push makes a bucket's entries ready.
func (q *buckets[T]) push(b *bucket[T]) {
	if q.head == nil {
		q.head = b
	} else {
		q.tail.next = b
	}
	q.tail = b
}

// pop takes out one of the oldest entries, nil when there is none.
func (q *buckets[T]) pop() *Entry[T] {
	for q.head != nil {
		if b := q.head; !b.empty() {
			return b.pop()
		}
		q.drop()
	}
	return nil
}

// drop recycles the first bucket.
func (q *buckets[T]) drop() {
	b := q.head
	q.head, b.next = b.next, nil
	q.recycle(b)
}

// empty says whether no entry is ready.
func (q *buckets[T]) empty() bool {
	for q.head != nil && q.head.empty() { // canceled, all of them
		q.drop()
	}
	return q.head == nil
}
