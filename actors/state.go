package actors

import (
	"math"
	"time"
)

// rest is what a name remembers while nothing goes on but that it is held: the
// part of its state that stays with the cell.
type rest struct {
	tenure   *tenure       // who of this runtime has the name; nil: nobody
	since    time.Duration // when the lock was last taken from Redis
	gate     time.Duration // nothing is asked before this (back-off after trouble)
	handed   int32         // hand-offs since
	failures uint8         // commands in a row that got no verdict, as far as it matters
	doubt    bool          // a wake-up arrived while we hold: is the field still there?
	known    bool          // to a timer or a subscription, which may come late: see activation.unbind
	closing  bool
}

// state is everything that one name remembers between two messages. Only the
// transition function (step.go) changes it. It is plain data: no clock, no
// Redis, no goroutine, so a simulation can run it a million times.
type state struct {
	rules *rules
	rest

	flight command // the one command in flight; kind askNone: none
	urgent calls   // unlocks, re-entries, tries, extensions, forced unlocks
	queue  calls   // waiting acquires in order of arrival
	ghosts []ghost // owners that a lost reply may have granted
	wait

	seed uint64   // for jitter: deterministic, seeded from outside
	out  []effect // the effects of the step under way
}

// wait is how the head of the queue waits.
type wait struct {
	parked    bool          // the head was refused: wait for a message or the timer
	again     bool          // a wake-up arrived while an attempt was flying
	listening bool          // the unlock channel is subscribed (asked for)
	heard     bool          // ... and was confirmed at least once
	wokeBy    wakeup        // what unparked the head
	pollWhy   wakeup        // a parked head asks anyway: the holder's TTL ends then, or as the poll bound
	pollAt    time.Duration // ... and when
	holder    string        // the owner elsewhere that Redis named last, if it was asked to
	holderEnd time.Duration // when its lease would end, as last seen
	deaf      time.Duration // we stand back until then: others have their turn
	sharedN   int           // queued acquires whose owner may come twice
	timerAt   time.Duration // the timer as last asked for
}

// resume goes on where a name at rest had left off. The name before it left no calls,
// no command and no ghosts, or it would not have come to rest.
func (s *state) resume(r *rules, from rest) {
	s.rules, s.rest, s.wait = r, from, wait{}
}

// rules are the numbers that a runtime and a lock kind fix for every name.
type rules struct {
	watchdog   time.Duration // lease of a hold without an explicit one
	poll       time.Duration // a waiter asks at least this often, message or not
	maxWaiters int
	reentrant  bool          // the same owner may go in again
	handOff    bool          // the kind has a hand-off script
	runLength  int32         // hand-offs before other processes get their turn
	runTime    time.Duration // ... or after so long
	alwaysGive bool          // others may listen where NUMSUB cannot see them
	courtesy   time.Duration // after giving way, ask again no sooner than this
	standBack  time.Duration // ... and if somebody took it, not for longer than this
}

// ghost is an owner whose acquire may have run although nobody waits for it any
// more: its field is taken out again until it can no longer be there.
type ghost struct {
	owner Owner
	next  time.Duration // try then
	until time.Duration // by then the lease has run out
	tries int
}

// margin is what a lease is shortened by on our side before Redis lets go of it:
// one per cent for the difference between two clocks' rates plus 10 ms for
// their resolution (design S1), and never more than a tenth of the lease.
func margin(lease time.Duration) time.Duration {
	return min(lease/100+10*time.Millisecond, lease/10)
}

// idle reports that the name can be forgotten: a new call would find nothing.
func (s *state) idle() bool {
	return s.tenure == nil && s.quiet() && !s.listening
}

// quiet reports that nothing will happen by itself but the lease timer, which
// lives outside: rest is all that there is to remember.
func (s *state) quiet() bool {
	return s.flight.kind == askNone && s.urgent.n == 0 && s.queue.n == 0 && len(s.ghosts) == 0
}

func (s *state) emit(e effect) { s.out = append(s.out, e) }

// jitter returns a value in [0, d), from a small xorshift so that a simulation
// with the same seed takes the same path.
func (s *state) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	s.seed ^= s.seed << 13
	s.seed ^= s.seed >> 7
	s.seed ^= s.seed << 17
	return time.Duration(s.seed % uint64(d))
}

const (
	firstBackOff = 5 * time.Millisecond
	lastBackOff  = 250 * time.Millisecond
	mostFailures = 10 // the back-off has long stopped growing
	never        = time.Duration(math.MaxInt64)
)

// backOff closes the gate after a command that got no verdict.
func (s *state) backOff(now time.Duration) {
	d := min(firstBackOff<<s.failures, lastBackOff)
	s.failures = min(s.failures+1, mostFailures)
	s.gate = now + d + s.jitter(d/2)
}

// settled reopens the gate after a command that got one.
func (s *state) settled() {
	if s.failures > 0 {
		s.failures, s.gate = 0, 0
		s.emit(effect{kind: fxTrouble})
	}
}
