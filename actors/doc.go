// Package actors is where a lock's behaviour is decided: one actor per lock name.
//
// # The three layers
//
//	step*.go      the transition function: (state, event) -> (state, effects).
//	              No clock, no Redis, no goroutine. Everything a lock does because
//	              something happened is decided here; sim_test.go runs it through
//	              hundreds of thousands of random schedules.
//	activation.go the protoactor actor of a name, with its one command in flight;
//	              handle.go turns messages into events, effects.go carries effects
//	              out. They decide nothing and block on nothing.
//	cell.go       one name, and what it remembers; work.go is what it has besides
//	              while something goes on. table.go finds the name and delivers, with
//	              index.go; pool.go has the actors, mailbox.go queues.
//
// request.go, hold.go and hold_life.go are what callers see; while the pipeline is full
// acquires wait in admission.go, before their names hear of them. watchdog.go keeps
// leases alive, renewals.go is a batch of them on its way; system.go wires it together.
//
// # The life of a name
//
//	         acquire                granted
//	(none) ----------> asking ------------------> held <---------+
//	   ^                 |  ^                      | |           | re-entry,
//	   |         refused |  | message, TTL, poll,  | +-----------+ partial unlock,
//	   |                 v  | confirmed            |               renewal
//	   |               parked                      |
//	   |                                           | last unlock, or loss
//	   |        nobody waits                       v
//	   +------------------------------------- (released) --> hand-off to the next
//	                                                         local waiter, or asking
//
// A name has at most one command in flight, so its commands reach Redis in the
// order in which they were decided, although the pipeline spreads names over
// workers and connections. Unlocks, re-entries, tries and forced unlocks take
// their turn in order of arrival, ahead of the waiting queue; waiters are granted
// first come, first served, and only the head of the queue ever asks Redis.
//
// A tenure is one owner's possession, from first grant to last unlock or loss.
// Its deadline is sentAt + lease - margin on the monotonic clock, where sentAt was
// read before the command left: a slow reply shortens the trust, never stretches
// it. Loss is final.
//
// # A reply that was lost
//
// The outcome is unknown, not failed. Scripts *set* an owner's count instead of
// adding to it, so sending the same command again reads what the first one did
// and settles it; a count of 2 by accident cannot happen. When nobody waits for
// the answer any more, the owner becomes a ghost: its field is taken out again,
// until its lease would have run out.
//
// # Claim
//
// A grant is claimed when somebody takes the Hold out of its future. No claim, no
// renewal; a grant that is canceled unclaimed goes to the next in line.
//
// # Goroutines, ordering, closing
//
// An actor runs to completion on the goroutine that brought it a message: a
// caller's, a pipeline worker's, the wheel's, the subscriber's. There is one drain
// at a time per mailbox. Handlers never block, never hold a lock while posting,
// and actors never post to each other. The only goroutine born here is the
// notifier's, which runs user code about losses. Mutexes are held together only in
// this order: admission, shard, pool, mailbox; admission, wheel; watch, wheel.
//
// A name with no message and no command in flight passivates: the activation
// returns to a pool. If nothing goes on (nobody waits, no ghost), the state goes
// with it, and a few words stay in the cell (rest); if there is nothing to remember
// either, the cell is forgotten. A message that arrives meanwhile is not lost:
// look-up (or, for an unlock, the check that the cell is still that name's),
// activation, count and send happen under one shard lock, and an actor
// retires only when what was sent equals what was handled.
//
// # What a lock weighs
//
// A lock that is held is a Hold (with its call, future, timer entry and tenure), a
// cell, and an entry of the table; a waiter is a Hold, and its name has a cell, a
// work and a subscription. Besides, a few blank cells and idle actors are kept.
// Owners are numbers until a command needs their text, a renewal's item lives as
// long as its batch, and a span, a context or a mapped name is made for the holds
// that have one (extra).
// size_test.go holds the figures.
//
// System.Close tells every cell, waits until the table is empty, then stops the
// pipeline, the wheel and the pooled actors. When its ctx ends first, a second
// close makes the names give up what Redis has not confirmed.
package actors
