package actors

// index finds a shard's cells by name: chains that are linked through the cells
// themselves. A Go map hashes the name again for each look-up, insertion and removal,
// and keeps keys and cells in places of its own, all of them cold when tens of
// thousands of names are under way; here the name is hashed once, by the table, and a
// cell that goes takes itself out.
type index struct {
	heads []*cell // a power of two
	n     int
}

// fewHeads is the size of an index with little in it.
const fewHeads = 8

func newIndex() index { return index{heads: make([]*cell, fewHeads)} }

// head is where the chain of a hash begins. The low byte chose the shard.
func (x *index) head(hash uint64) **cell {
	return &x.heads[hash>>8&uint64(len(x.heads)-1)]
}

// find returns the cell of k, or nil.
func (x *index) find(k key, hash uint64) *cell {
	for c := *x.head(hash); c != nil; c = c.next {
		if c.hash == hash && c.key == k {
			return c
		}
	}
	return nil
}

// add puts in a cell that has its key and hash.
func (x *index) add(c *cell) {
	if x.n++; x.n > len(x.heads) {
		x.resize(2 * len(x.heads))
	}
	x.link(c)
}

func (x *index) link(c *cell) {
	head := x.head(c.hash)
	c.next, *head = *head, c
}

// remove takes out a cell that is in.
func (x *index) remove(c *cell) {
	at := x.head(c.hash)
	for *at != c {
		at = &(*at).next
	}
	*at, c.next = c.next, nil
	if x.n--; x.n < len(x.heads)/8 && len(x.heads) > fewHeads {
		x.resize(len(x.heads) / 2)
	}
}

func (x *index) resize(size int) {
	old := x.heads
	x.heads = make([]*cell, size)
	for _, c := range old {
		for c != nil {
			next := c.next
			x.link(c)
			c = next
		}
	}
}

// keys lists what is in.
func (x *index) keys() []key {
	keys := make([]key, 0, x.n)
	for _, c := range x.heads {
		for ; c != nil; c = c.next {
			keys = append(keys, c.key)
		}
	}
	return keys
}
