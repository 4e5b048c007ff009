// Package actors is where a lock's behaviour is decided: one actor per lock name.
//
// # The three layers
//
//	step*.go      the transition function: (state, event) -> (state, effects).
//	              No clock, no Redis, no goroutine. Everything a lock does because
//	              something happened is decided here; sim_test.go runs it through
//	              hundreds of thousands of random schedules.
//	cell.go       one name: its state, its one command in flight, its timer.
//	effects.go    carries effects out. Decides nothing, blocks on nothing.
//	table.go      finds the actor of a name and delivers; mailbox.go queues;
//	activation.go is the protoactor actor that handles.
//
// hold.go and hold_life.go are what callers see; watchdog.go keeps leases alive;
// system.go wires it together.
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
// this order: shard, pool, mailbox; watch, wheel.
//
// A name whose state is quiet passivates: the activation returns to a pool, the
// cell stays while there is something to remember, and is forgotten otherwise. A
// message that arrives meanwhile is not lost: look-up, activation, count and send
// happen under one shard lock, and an actor retires only when what was sent equals
// what was handled.
//
// System.Close tells every cell, waits until the table is empty, then stops the
// pipeline, the wheel and the pooled actors. When its ctx ends first, a second
// close makes the names give up what Redis has not confirmed.
package actors
