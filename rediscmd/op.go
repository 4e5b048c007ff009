package rediscmd

import (
	"strconv"
	"time"
)

// Verdict is what a script that ran found or did.
type Verdict uint8

const (
	// NoVerdict: the script did not run, or it is not known whether it did.
	NoVerdict Verdict = iota
	// Granted: the owner holds the lock, at the level asked for.
	Granted
	// Held: somebody holds it: another owner (Acquire), the owner asked about
	// (Check), anybody (Inspect).
	Held
	// Absent: the owner's field, or the key, is not there.
	Absent
	// Released: the lock was freed.
	Released
	// Lowered: the hold count went down, the owner still holds the lock.
	Lowered
	// HandedOver: the next owner holds the lock.
	HandedOver
	// Yielded: the lock was freed instead of being handed over.
	Yielded
	// Renewed: the lease was extended; for a batch: each item says for itself.
	Renewed
)

var verdictNames = [...]string{"none", "granted", "held", "absent", "released", "lowered", "handed over", "yielded", "renewed"}

// String returns the verdict's name, in lower case.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "invalid"
}

// NoTTL is the TTL of a key that does not expire.
const NoTTL time.Duration = -1

// Reply is what became of an Op.
type Reply struct {
	Err    error     // nil when Outcome is OutcomeDone
	SentAt time.Time // read before the first byte could leave; zero when nothing was sent
	// TTL is what is left of the key's lease, where the script reports it (Acquire
	// refused, HandOff absent, Check, Inspect): whole milliseconds, NoTTL when the
	// key has none, 0 when there is no key.
	TTL   time.Duration
	Owner string // the holder's field, where asked for
	Count int64  // its hold count; for Renew: how many were held
	// Listeners are the subscribers of the lock's channel. Inspect: all, this
	// client's included, -1 unknown; a hand-off that yielded: the others.
	Listeners int64
	Outcome   Outcome
	Verdict   Verdict // set when Outcome is OutcomeDone
	// Silent: the lock was freed, but the server refused to publish that (an ACL
	// without the channel), so nobody was woken and waiters find out by polling.
	Silent bool
}

// Completer receives an Op back. Completed is called exactly once per
// submission, on a pipeline worker (after Close: on the goroutine that
// submitted). It must not block: other operations wait behind it. It may submit
// op again.
type Completer interface{ Completed(op *Op) }

// Op is one run of a script. Its sender owns it, usually embeds it by value, and
// may use it again once it was completed. The zero value is ready. It must not be
// copied or touched between submission and completion.
//
// It says what is wanted, in the script's terms; the worker that sends it writes
// that down as keys and arguments, for one Op or for many at once (run.go).
type Op struct {
	// Reply is valid from Completed until the next submission. From then until Completed
	// only Err means anything: refused, not to be sent.
	Reply Reply

	done  Completer
	batch *renewal // the leases of a renewal
	name  string
	owner Owner
	to    Owner // the next owner of a hand-off
	terms terms
}

// terms are what Ops must have in common to travel in one script run.
type terms struct {
	script *script
	lease  int64 // ms; 0: none
	level  int64 // hold count to set
	yield  YieldMode
	own    bool // hand-off: one of the channel's listeners is this client
	holder bool // acquire: name the holder on refusal
}

// prepare makes op a run of s about a name. Each door calls it first.
func (op *Op) prepare(s *script, name string) {
	op.Reply.Err, op.batch, op.name, op.owner, op.to = nil, nil, name, Owner{}, Owner{}
	op.terms = terms{script: s}
}

// lease sets the lease, rounded up to whole milliseconds.
func (op *Op) lease(lease time.Duration) {
	ms, err := wireLease(lease)
	if err != nil {
		op.refuse(err)
	}
	op.terms.lease = ms
}

// level sets the hold count, which must be at least least.
func (op *Op) level(level, least int64) {
	if level < least {
		op.refuse(&ArgError{"level", strconv.FormatInt(level, 10)})
	}
	op.terms.level = level
}

// by sets the owner.
func (op *Op) by(owner Owner) { op.owner = op.somebody(owner) }

// somebody refuses an owner who is nobody.
func (op *Op) somebody(owner Owner) Owner {
	if owner.Runtime == "" {
		op.refuse(&ArgError{"owner", strconv.Quote(owner.Runtime)})
	}
	return owner
}

// refuse makes op fail without being sent.
func (op *Op) refuse(err error) {
	if op.Reply.Err == nil {
		op.Reply.Err = err
	}
}

// fail writes the reply of an op that has no verdict.
func (op *Op) fail(err error, sentAt time.Time) {
	op.Reply = Reply{Outcome: Classify(err), Err: wrapError(op.terms.script.name, err), SentAt: sentAt}
}
