package actors

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// key names a cell: a lock name and the kind of lock it is used as.
type key struct {
	name string
	kind *Kind
}

// table finds the actor of a name. The names belong to this table and not to
// protoactor's registry: look-up (or the check that a cell is still that name's),
// activation and send happen under one shard lock, and what was sent is counted, so
// that no message is lost to an actor that retires at the same moment (actors-wheel.md
// section 4, pattern C: 0 lost of 64 000 where the registry pattern lost 228).
type table struct {
	seed   maphash.Seed
	shards [256]shard
	pool   *activations
	make   func(*shard) *cell
	after  func() // called when an actor has run

	n      atomic.Int64 // cells in the table
	closed atomic.Bool
	empty  chan struct{} // closed when the table is closed and the last cell went
	once   sync.Once
}

type shard struct {
	mu     sync.Mutex
	cells  index
	blank  *cell // forgotten ones, for new names: a chain, blanks long
	blanks int32
	closed bool
	_      [8]byte // as long as a cache line
}

// maxBlank is the most blank cells of a shard: 450 KB in all, which are kept for good.
const maxBlank = 16

func newTable(pool *activations, make_ func(*shard) *cell, after func()) *table {
	t := &table{seed: maphash.MakeSeed(), pool: pool, make: make_, after: after, empty: make(chan struct{})}
	pool.table = t
	for i := range t.shards {
		t.shards[i].cells = newIndex()
	}
	return t
}

// shard returns where k is or would be, and the hash of its name.
func (t *table) shard(k key) (*shard, uint64) {
	hash := maphash.String(t.seed, k.name)
	return &t.shards[hash%uint64(len(t.shards))], hash
}

// at returns the cell of k, if it has one, and its shard, which is locked.
func (t *table) at(k key) (*cell, *shard) {
	sh, hash := t.shard(k)
	sh.mu.Lock()
	return sh.cells.find(k, hash), sh
}

// post delivers m to the actor of k, then lets it run on this goroutine unless
// another is running it already. A name without a cell gets one if m is a new
// call; other messages have nothing to say to it. It reports whether m was
// delivered; it never blocks on anything but short locks. After the run there may be
// room for calls that wait for admission, which are then let in here.
func (t *table) post(k key, m *message) bool {
	a, ok := t.enqueue(k, m)
	t.run(a)
	return ok
}

// enqueue is post without the run: it returns the actor that the caller has to drain,
// if any.
func (t *table) enqueue(k key, m *message) (run *activation, ok bool) {
	sh, hash := t.shard(k)
	sh.mu.Lock()
	c := sh.cells.find(k, hash)
	if c == nil {
		if sh.closed || m.kind != evCall && m.kind != evInspect {
			sh.mu.Unlock()
			return nil, false
		}
		c = t.name(sh, k, hash)
	}
	return t.deliver(c, m), true
}

// postAt is post for a sender that knows where k was when it last heard of it. While
// a name is held it stays there, so that an unlock need not look it up.
func (t *table) postAt(c *cell, k key, m *message) bool {
	c.shard.mu.Lock()
	if c.act == gone || c.key != k {
		c.shard.mu.Unlock()
		return t.post(k, m)
	}
	t.run(t.deliver(c, m))
	return true
}

// name gives a new name its cell. With the shard lock held.
func (t *table) name(sh *shard, k key, hash uint64) *cell {
	c := sh.blank
	if c != nil {
		sh.blank = c.next
		sh.blanks--
	} else {
		c = t.make(sh)
	}
	c.key, c.hash, c.act = k, hash, nil
	sh.cells.add(c)
	t.n.Add(1)
	return c
}

// forget takes a cell out. It may be used again, for any name, unless somebody may
// still come late and mean this one. With the shard lock held.
func (sh *shard) forget(c *cell, known bool) {
	sh.cells.remove(c)
	c.act = gone
	if !known && sh.blanks < maxBlank {
		c.wipe()
		c.next, sh.blank = sh.blank, c
		sh.blanks++
	}
}

// postTo delivers to an actor that cannot retire meanwhile: its command is in
// flight, or it is just handling a message.
func (t *table) postTo(a *activation, m *message) {
	c := a.cell
	c.shard.mu.Lock()
	t.run(t.deliver(c, m))
}

// deliver is entered with the shard lock held and leaves it. It returns the actor if
// the caller has to drain it.
func (t *table) deliver(c *cell, m *message) *activation {
	a := c.act
	if a == nil {
		a = t.pool.get()
		a.bind(c)
	}
	a.sent++
	a.PostUserMessage(m) // what Send does once it has found the mailbox
	run := a.due
	a.due = false
	c.shard.mu.Unlock()
	if !run {
		return nil
	}
	return a
}

// run lets an actor run on this goroutine.
func (t *table) run(a *activation) {
	if a != nil {
		a.drain()
		t.after()
	}
}

// close refuses new names and tells every cell.
func (t *table) close() {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		sh.closed = true
		sh.mu.Unlock()
	}
	t.closed.Store(true) // no shard takes a new name: the count can only fall
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		keys := sh.cells.keys()
		sh.mu.Unlock()
		for _, k := range keys {
			t.post(k, &message{kind: evClose})
		}
	}
	if t.n.Load() == 0 {
		t.once.Do(func() { close(t.empty) })
	}
}

// forgotten counts a cell out.
func (t *table) forgotten() {
	if t.n.Add(-1) == 0 && t.closed.Load() {
		t.once.Do(func() { close(t.empty) })
	}
}
