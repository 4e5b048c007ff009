package rediscmd

import (
	"sync"
	"sync/atomic"
)

// lanes finds the lane of a key. A single server or a Sentinel primary is one
// lane. In a cluster keys are grouped by primary, so that a primary that hangs
// holds up nobody else's batches. The grouping is only a hint: commands go through
// the cluster client, which follows MOVED, so a stale map costs speed.
type lanes struct {
	c       *Client
	only    *lane // no cluster, or no map yet
	slotMap atomic.Pointer[slotMap]

	mu     sync.Mutex
	byAddr map[string]*lane // every lane ever made: a primary that left costs its idle workers
	closed bool
}

// slotMap is an immutable picture of the cluster.
type slotMap struct {
	owner [slotCount]int16 // index into addrs and lanes, -1 unknown
	addrs []string
	lanes []*lane
}

func newLanes(c *Client) *lanes {
	only := newLane(c)
	return &lanes{c: c, only: only, byAddr: map[string]*lane{"": only}}
}

func (l *lanes) of(key string) *lane {
	m := l.slotMap.Load()
	if m == nil {
		return l.only
	}
	if i := m.owner[slot(key)]; i >= 0 {
		return m.lanes[i]
	}
	return l.only
}

// addr is the primary of a key's slot, "" if not known or not a cluster.
func (l *lanes) addr(key string) string {
	m := l.slotMap.Load()
	if m == nil {
		return ""
	}
	if i := m.owner[slot(key)]; i >= 0 {
		return m.addrs[i]
	}
	return ""
}

func (l *lanes) install(m *slotMap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, addr := range m.addrs {
		n := l.byAddr[addr]
		if n == nil {
			n = newLane(l.c)
			n.closed = l.closed
			l.byAddr[addr] = n
		}
		m.lanes = append(m.lanes, n)
	}
	l.slotMap.Store(m)
}

func (l *lanes) all() []*lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*lane, 0, len(l.byAddr))
	for _, n := range l.byAddr {
		list = append(list, n)
	}
	return list
}

func (l *lanes) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for _, n := range l.all() {
		n.close()
	}
}

func (l *lanes) wait() {
	for _, n := range l.all() {
		n.wg.Wait()
	}
}

func (l *lanes) abandon() {
	for _, n := range l.all() {
		n.abandon()
	}
}
