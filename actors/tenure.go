package actors

import (
	"sync/atomic"
	"time"
)

// tenure is one owner's possession of a name, from the first grant to the last
// unlock or the loss. All levels of the owner share it and its lease: a lease
// belongs to the owner, as the TTL in Redis does, not to a level.
//
// The transition function decides about it. What the watchdog and callers look at
// too are atomics: the deadline, which a successful renewal moves forward without
// waking the actor, whether the tenure is still live, and whether it is renewed.
type tenure struct {
	cell   *cell // where the name is while it is held, and maybe not afterwards: for postAt; nil: look it up
	first  *call // the first level: its owner is the tenure's, its hold's timer the lease timer
	levels calls // granted acquires, oldest first

	lease    time.Duration // as last set
	reach    time.Duration // a lease whose reply was lost may last until then
	deadline atomic.Int64  // sentAt + lease - margin, on the runtime's clock
	live     atomic.Bool
	watched  atomic.Bool // a level without explicit lease is held
	unsure   bool        // a release or hand-off was sent and its reply lost
	leaving  bool        // the last level is on its way out: no more re-entry

	watch watch // the watchdog's own notes
}

// owner returns whose possession it is.
func (t *tenure) owner() Owner { return t.first.owner }

// home is the hold that began the tenure.
func (t *tenure) home() *Hold { return t.first.hold }

// has reports whether c is a level that is held.
func (t *tenure) has(c *call) bool { return c.phase == phaseGranted && c.tenure == t }

// expiry returns the local deadline: until then nobody else can have the name.
func (t *tenure) expiry() time.Duration { return time.Duration(t.deadline.Load()) }

// trust moves the deadline forward after Redis acknowledged a lease that was
// asked for at sentAt. It never moves back: an acknowledged lease stands.
func (t *tenure) trust(sentAt, lease time.Duration) {
	d := int64(sentAt + lease - margin(lease))
	for {
		old := t.deadline.Load()
		if d <= old || t.deadline.CompareAndSwap(old, d) {
			return
		}
	}
}

// leaseFor is the lease to set when the owner asks for `asked`: never shorter
// than what the owner has been promised already. While the watchdog is on it is
// at least the watchdog's own lease, so that a renewal which overtakes this
// command, or is overtaken by it, cannot leave a TTL that ends before the
// deadline that either of them would justify.
func (t *tenure) leaseFor(asked, now time.Duration, r *rules) time.Duration {
	left := t.expiry() - now + margin(t.lease)
	lease := max(asked, wholeMillis(left))
	if t.watched.Load() {
		lease = max(lease, r.watchdog)
	}
	return min(lease, MaxLease)
}

// wantsWatchdog reports whether any level is held without an explicit lease.
func (t *tenure) wantsWatchdog() bool {
	for c := t.levels.head; c != nil; c = c.next {
		if c.watchdog {
			return true
		}
	}
	return false
}

// wholeMillis rounds up: a lease on the wire is an integer number of
// milliseconds, and less than was asked for would be a broken promise.
func wholeMillis(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
