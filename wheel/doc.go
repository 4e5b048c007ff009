// Package wheel says which of very many entries are due now, and hands them over in batches.
//
// The typical entry is a lease that wants renewing every few seconds: hundreds of thousands of them, re-armed for
// ever, never a goroutine or a timer each. A deadline that must be met to the millisecond goes on the same wheel with
// [Wheel.ScheduleExact].
//
// # The bounds
//
//	call             fires not before   fires not later than                    cost
//	Schedule         due                due + Granularity, + scheduling         O(1), 0 allocations
//	ScheduleExact    due                due, + scheduling (about a millisecond) O(1) when far away, O(log n) when near
//	Cancel           -                  -                                       O(1), O(log n) for a near exact entry
//
// Times are durations since [Config.Base] on the monotonic clock ([Wheel.Now]): an NTP step or a resumed machine moves
// nothing. "Scheduling" is what the Go runtime needs to start a goroutine on this machine, and the time that earlier
// calls of Handler take. Zero allocations is per entry: waking a slot costs two or three
// small ones, once per slot, and its bucket grows as entries come.
//
// # Life of an entry
//
//	             Schedule, coarse                    the slot's time has come
//	detached ------------------------> in a slot ---------------------------> ready ---> Handler (detached again)
//	    |                                ^   ^                                  |
//	    | ScheduleExact, far away        |   +----- longer than the ring -------+
//	    +--------------------------------+                                      |
//	    |                                                                       | exact, not due yet
//	    | ScheduleExact, near; or due already                                   v
//	    +------------------------------------------------------------------> near heap ---> Handler (detached again)
//
// From every state but detached, Cancel, another Schedule or Stop takes the entry out. All of that happens under one
// short mutex, so each scheduling ends in exactly one way: handed to Handler, canceled (Cancel said true), replaced by
// a later Schedule of the same entry, or returned by Stop.
//
// # Who wakes whom
//
// A slot is a bucket of entries with one planned time, number*Granularity. It is asleep while nobody uses it. Who makes
// it non-empty has it woken, once:
//
//	asleep ---> on library ---> in near heap ---> asleep (its entries are ready)
//	   |            |                 ^   |
//	   |            +--- in time -----|---+---> (straight to ready)
//	   +---- too close for library ---+
//
// The library is github.com/RussellLuo/timingwheel, one of its timers per non-empty slot. It rounds down to its own tick
// (half a slot here), so it wakes a slot a little ahead, and one runtime timer, shared by the whole wheel, does the
// rest: this is what keeps a coarse entry within one Granularity. A slot left empty by Cancel stays armed and wakes for
// nothing, because stopping a library timer does not take its bucket out of the library's queue.
//
// What wakes a slot is only a hint. Whether an entry is due is decided by comparing its time with the monotonic clock
// immediately before it is handed over, and nothing else.
//
// # What the library does wrong, and what is done about it
//
//   - It fires early under CPU load, or when the wall clock is set forward: the slot goes to the runtime timer,
//     [Stats].Early counts it.
//   - It can deadlock, or stall when the wall clock is set back: a runtime timer looks once a second for a slot that is
//     overdue by more than 500 ms and fires it, [Stats].Stalled counts it. A dead library therefore costs at most
//     Granularity + 1.5 s of lateness, not the leases.
//   - Its run-ahead needs two goroutines adding at once, its stuck caller a call that races Stop: one goroutine (the
//     drive loop) makes every call, Stop included. Callers of this package never touch the library, so nothing it does
//     can block them.
//   - Its clock goes stale while idle: a heartbeat timer every second, at most a quarter of the horizon.
//   - Moving timers between its levels is where it loses and locks: its first level is 10 s longer than any delay it gets.
//     Longer delays are carried over several turns here.
//   - Delays below two ticks, zero, negative or huge ones: never given to it.
//
// A plain ticker would drive these slots as well: the gain is in the buckets and the batches, not in the library.
//
// # Ordering and goroutines
//
// Calls of Handler and Lag never overlap, whatever fires. One batch holds at most 256 entries; entries of one slot come
// in the order in which they were scheduled, but that one which is canceled or moved gives its place to the last. Between
// two batches the mutex is free: Cancel still works for what has not been handed over.
//
// A wheel owns three goroutines (drive loop, two in the library), however many entries it holds, and while something is
// being delivered one more from a runtime timer or the library. [Wheel.Stop] ends all of them: it closes the door, takes what
// is pending and waits for the batch in flight, while the drive loop stops the library. Everything works inside a
// testing/synctest bubble when [New] is called inside it.
package wheel
