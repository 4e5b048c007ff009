package actors

import (
	"sync/atomic"
)

// cell is where a name lives: what it remembers at rest, and the way to what it
// needs for more. It is in the table as long as there is anything to remember.
//
// There is a cell for each lock that is held, so it is small. A name borrows what
// it needs only now and then:
//
//	rest        always: who has the name, and how the last command fared
//	work        while something goes on: waiters, ghosts, a subscription, a timer
//	activation  while there are messages or a command in flight: the actor
//
// A lock that is held and quiet is at rest; one that is waited for has work, and
// an actor only when something happens to it.
type cell struct {
	next    *cell  // in the shard's index, or among its blank cells; guarded by shard.mu
	hash    uint64 // of the name
	key     key
	sys     *System
	shard   *shard
	act     *activation // nil: none; gone: the cell is not in the table; guarded by shard.mu, as is key while it changes
	trouble atomic.Pointer[error]

	// What is below belongs to the activation that is bound to the cell; the shard
	// lock orders one after another.
	rest rest  // means nothing while there is work: the state has it
	work *work // nil: at rest
}

// newCell makes a cell that is in no table yet.
func (s *System) newCell(sh *shard) *cell { return &cell{sys: s, shard: sh} }

// wipe makes a forgotten cell blank.
func (c *cell) wipe() {
	c.key, c.rest = key{}, rest{}
	c.trouble.Store(nil)
}

// gone is the actor of a cell that is in the table no more.
var gone = new(activation)

// Subscribed and Message implement rediscmd.Listener.
func (c *cell) Subscribed() { c.sys.table.post(c.key, &message{kind: evSubscribed}) }

// Message is a wake-up, whatever its payload: Redisson's write locks publish 1
// where others publish 0, and both mean "look again".
func (c *cell) Message(string) { c.sys.table.post(c.key, &message{kind: evWake}) }

func (c *cell) lastTrouble() error {
	if p := c.trouble.Load(); p != nil {
		return *p
	}
	return nil
}
