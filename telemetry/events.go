package telemetry

import (
	"context"
	"time"
)

// background is what events without a span are recorded with.
var background = context.Background()

// Loss tells of a lease that ended while its holder still counted on it.
type Loss struct {
	Kind   string // Kind constants
	Name   string // for the log line written from the same value; never on a metric
	Owner  string // likewise
	Reason string // Loss constants
}

// Lost counts one lost lease: holdfast.client.lease.losses. Name and Owner stay
// off the counter, because each of them would be a series of its own.
func (r *Recorder) Lost(l Loss) {
	if r == nil || !r.leaseLosses.Enabled(background) {
		return
	}
	r.leaseLosses.Add(background, 1, r.lossSets.get(pair{l.Kind, l.Reason})...)
}

// Released records how long an unlock took: holdfast.client.release.duration,
// with error.type when err is not nil.
func (r *Recorder) Released(kind string, took time.Duration, err error) {
	if r == nil || !r.releaseDuration.Enabled(background) {
		return
	}
	k := pair{a: kind}
	if err != nil {
		k.b = errorType(err, "")
	}
	r.releaseDuration.Record(background, inSeconds(took), r.releaseSets.get(k)...)
}

// RenewBatch is the result of renewing the leases that fell due together.
type RenewBatch struct {
	Took    time.Duration // from send to the last reply
	Renewed int           // leases renewed
	Lost    int           // leases that turned out to be gone
	Failed  int           // leases whose renewal got no answer that counts
	Err     error         // the failure of the batch, if it failed as a whole
}

// RenewedBatch records one batch: one point of holdfast.client.renew.duration
// whatever its size, and holdfast.client.renew.leases by outcome. A lost lease is
// no failure of the batch.
func (r *Recorder) RenewedBatch(b RenewBatch) {
	if r == nil {
		return
	}
	if r.renewDuration.Enabled(background) {
		errType := ""
		if b.Err != nil {
			errType = errorType(b.Err, "")
		}
		r.renewDuration.Record(background, inSeconds(b.Took), r.renewSets.get(errType)...)
	}
	if r.renewLeases.Enabled(background) {
		r.addRenewed(renewRenewed, b.Renewed)
		r.addRenewed(renewLost, b.Lost)
		r.addRenewed(renewError, b.Failed)
	}
}

func (r *Recorder) addRenewed(outcome string, n int) {
	if n > 0 {
		r.renewLeases.Add(background, int64(n), r.renewLeaseSets.get(outcome)...)
	}
}

// RenewMargin records the time that was left on a lease when its renewal was
// acknowledged: holdfast.client.renew.margin. A negative margin counts as none,
// because a histogram's sum may only grow.
func (r *Recorder) RenewMargin(d time.Duration) {
	if r != nil {
		r.renewMargin.Record(background, inSeconds(d))
	}
}

// Wakeup counts one attempt after a wake-up (Wakeup constants), and whether it
// won the lock: holdfast.client.wakeups.
func (r *Recorder) Wakeup(reason string, won bool) {
	if r == nil || !r.wakeups.Enabled(background) {
		return
	}
	result := wakeupLost
	if won {
		result = wakeupWon
	}
	r.wakeups.Add(background, 1, r.wakeupSets.get(pair{reason, result})...)
}

// HandedOff records the time from an unlock to the next grant, by scope (Scope
// constants): holdfast.client.handoff.duration.
func (r *Recorder) HandedOff(scope string, took time.Duration) {
	if r == nil || !r.handoffDuration.Enabled(background) {
		return
	}
	r.handoffDuration.Record(background, inSeconds(took), r.handoffSets.get(scope)...)
}

// CleanedUp counts one grant that had to be given back (Cleanup constants):
// holdfast.client.cleanups.
func (r *Recorder) CleanedUp(cause string) {
	if r == nil || !r.cleanups.Enabled(background) {
		return
	}
	r.cleanups.Add(background, 1, r.cleanupSets.get(cause)...)
}

// Batch records the number of commands that left in one batch:
// holdfast.runtime.batch.size.
func (r *Recorder) Batch(size int) {
	if r != nil {
		r.batchSize.Record(background, int64(size))
	}
}

// TimerLag records how late the wheel fired: holdfast.runtime.timer.lag. Early
// counts as on time.
func (r *Recorder) TimerLag(d time.Duration) {
	if r != nil {
		r.timerLag.Record(background, inSeconds(d))
	}
}

// inSeconds converts to the unit of the duration instruments, which do not take
// negative values.
func inSeconds(d time.Duration) float64 { return max(d, 0).Seconds() }
