package actors

import (
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// Kind is a sort of lock. The contention skeleton (FIFO queue, one command in
// flight, subscribe, retry, cancel, claim, watchdog) is the same for all; a kind
// brings its scripts, its channel, and the rules that differ.
type Kind struct {
	Name      string // as telemetry names it: mutex, fair, fenced...
	Reentrant bool   // the same owner may hold it more than once
	HandOff   bool   // its scripts can pass it to another owner of this runtime
	Door      Door
}

// Door is a kind's scripts. Every method fills in op, submits it and returns at
// once; done hears of the reply on a pipeline worker.
type Door interface {
	Acquire(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.AcquireArgs)
	Release(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.ReleaseArgs)
	HandOff(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.HandOffArgs)
	Extend(op *rediscmd.Op, done rediscmd.Completer, a rediscmd.ExtendArgs)
	Force(op *rediscmd.Op, done rediscmd.Completer, name string)
	Check(op *rediscmd.Op, done rediscmd.Completer, name string, owner rediscmd.Owner)
	Inspect(op *rediscmd.Op, done rediscmd.Completer, name string)
	Renew(lease time.Duration, prefix string, items []*rediscmd.Renewal, done rediscmd.RenewCompleter)
	Channel(name string) string
}
