// Package telemetry is the one room of holdfast that knows OpenTelemetry: it turns
// the events of the lock runtime into spans and metrics.
//
// It depends on the OpenTelemetry API only. A program that installs no SDK pays a
// few nanoseconds and no allocation for each event; a nil [*Recorder] pays less.
//
// # Life of a span
//
//	StartAcquire ── Blocked* ── EndAcquire        acquire {template}
//	                               │ granted, same instant
//	                           StartHold ── EndHold   hold {template}
//
// The caller owns both values: an [AcquireSpan] lives in its request and a
// [HoldSpan] in its hold, and whoever started one ends it. There is no goroutine,
// no queue and no table of open spans in this package, so nothing has to be
// drained; [Recorder.Close] only unregisters the callback that reads [Counts].
// The two spans are siblings under the span of the caller's context. [HoldSpan.Wrap]
// puts the hold span into the context of the critical section, so that the work
// done under the lock nests inside the hold. A span is kept in its value from
// start to end and never looked up in a context: with a start that may decline, a
// look-up would find, and end, the user's own span.
//
// # When there is a span
//
// Decided before anything is built:
//
//   - the context carries a span that records: yes;
//   - it carries one that does not, or the context of a remote one: no, that trace
//     was decided against;
//   - it carries none: only if a TracerProvider was given in [Config]. Then the
//     sampler decides, from the span name and kind, and acquire and hold are two
//     traces of one span each, joined by holdfast.owner.id.
//
// A span that the sampler refuses leaves the value inert, and later calls on it
// return at once.
//
// # Names
//
// A lock name is on spans only, as holdfast.lock.name, with bytes that are not
// UTF-8 written as \xNN. Span names use [Template], which replaces generated parts
// by {id}. On metrics there is no name and no owner: 5000 locks are one series. To
// find the name behind a slow measurement follow its exemplar: the histograms
// of acquire, wait and hold are recorded with the identity of their span, which has
// the name. (OpenTelemetry can also keep a filtered attribute in the exemplar
// itself, but the option for it is in the experimental module metric/x, which
// this module does not require; the SDKs that do not know it would make a series
// of each name.)
//
// # Errors
//
// The status of a span stays unset unless the operation failed. Acquired, busy and
// canceled are answers; timeout, error and closed are failures, and so is a hold
// that was lost or whose unlock failed. A failure has the status Error with the
// text of the error, and error.type with its class: what the error's method
// ErrorType() string returns, else timeout, closed or lease_lost where that is what
// happened, else what semconv derives from the Go type. There are no span events:
// OpenTelemetry is retiring RecordError.
//
// # Spans
//
//	acquire {template}   CLIENT     from the request to its answer
//	hold {template}      INTERNAL   from the grant to the end of the hold
//
// An acquire that found the lock taken links to the hold span that was in its way,
// if that one is known and sampled: one link to the first holder and one to the
// next that differs. The join works without a link too: holdfast.blocker.owner.id
// is equal, byte by byte, to the holdfast.owner.id of the hold span and to the
// field in Redis, also when a Java service wrote it.
//
// Attributes of the acquire span:
//
//	db.system.name              string  redis
//	db.stored_procedure.name    string  holdfast.acquire
//	holdfast.lock.name          string  the name
//	holdfast.lock.template      string  the name's template
//	holdfast.lock.kind          string  mutex fair spin fenced read write semaphore permit multi latch
//	holdfast.acquire.mode       string  lock try timed
//	holdfast.owner.id           string  uuid:number, as on the wire
//	holdfast.outcome            string  acquired busy timeout canceled error closed
//	holdfast.contended          bool    somebody else held it at the first attempt
//	holdfast.reentrant          bool    the owner held it already
//	holdfast.attempts           int     scripts sent
//	holdfast.wait.duration      double  s, if contended
//	holdfast.wakeup.reason      string  message ttl poll, if it was woken
//	holdfast.queue.position     int     from 1, if it queued
//	holdfast.blocker.owner.id   string  the last holder seen, if blocked
//	holdfast.blocker.origin     string  local remote, if blocked
//	holdfast.blocker.count      int     holders seen, if blocked
//	error.type                  string  if it failed
//
// Attributes of its links:
//
//	holdfast.link.type          string  blocked_by
//	holdfast.blocker.owner.id   string  the holder
//
// Attributes of the hold span:
//
//	holdfast.lock.name          string  the name
//	holdfast.lock.template      string  the name's template
//	holdfast.lock.kind          string  as above
//	holdfast.owner.id           string  uuid:number, as on the wire
//	holdfast.hold.count         int     the owner's count after the grant
//	holdfast.lease.mode         string  watchdog fixed
//	holdfast.release.reason     string  unlock unclaimed lost close
//	holdfast.renewals           int     renewals acknowledged
//	holdfast.renew.margin.min   double  s, least time left at a renewal, if renewed
//	error.type                  string  if lost, or if the unlock failed
//
// # Metrics
//
// Durations are histograms of seconds; every count is exact. An instrument is
// followed by its attributes.
//
//	holdfast.client.acquire.duration   Histogram      s
//	    holdfast.lock.kind  holdfast.outcome  holdfast.contended  error.type
//	holdfast.client.wait.duration      Histogram      s          contended requests only
//	    holdfast.lock.kind  holdfast.outcome
//	holdfast.client.hold.duration      Histogram      s
//	    holdfast.lock.kind  holdfast.release.reason
//	holdfast.client.release.duration   Histogram      s
//	    holdfast.lock.kind  error.type
//	holdfast.client.renew.duration     Histogram      s          one point per batch
//	    error.type
//	holdfast.client.renew.leases       Counter        {lease}
//	    holdfast.renew.outcome (renewed lost error)
//	holdfast.client.renew.margin       Histogram      s          time left when acknowledged; early warning
//	holdfast.client.lease.losses       Counter        {lease}    page on any
//	    holdfast.lock.kind  holdfast.loss.reason (expired gone force_unlocked)
//	holdfast.client.lease.count        UpDownCounter  {lease}    read at collection
//	holdfast.client.request.count      UpDownCounter  {request}  read at collection
//	    holdfast.request.state (queued inflight waiting unclaimed)
//	holdfast.client.wakeups            Counter        {wakeup}   lost over won is the herd ratio
//	    holdfast.wakeup.reason  holdfast.wakeup.result (won lost)
//	holdfast.client.handoff.duration   Histogram      s          unlock to next grant
//	    holdfast.handoff.scope (local)
//	holdfast.client.cleanups           Counter        {grant}    grants given back
//	    holdfast.cleanup.cause (canceled unclaimed)
//	holdfast.runtime.actor.count       UpDownCounter  {actor}    read at collection
//	holdfast.runtime.batch.size        Histogram      {command}
//	holdfast.runtime.timer.lag         Histogram      s          planned to actual firing
//
// Bucket boundaries:
//
//	acquire, wait, release, renew, handoff, timer.lag:
//	    .0001 .00025 .0005 .001 .0025 .005 .01 .025 .05 .1 .25 .5 1 2.5 5 10 30 60
//	hold:          .001 .005 .01 .05 .1 .5 1 5 10 30 60 120 300 900
//	renew.margin:  .01 .05 .1 .25 .5 1 2.5 5 10 15 20 30 60 120 300
//	batch.size:    1 2 4 8 16 32 64 128 256
//
// One query, in PromQL: the wait that one contended request in a hundred exceeds,
// by kind of lock.
//
//	histogram_quantile(0.99, sum by (le, holdfast_lock_kind)
//	    (rate(holdfast_client_wait_duration_seconds_bucket[5m])))
//
// The test of this package compares these tables with what is emitted.
//
// # Cost
//
// Attribute sets of metrics are built once for each combination of values and
// kept, so recording allocates nothing; a caller that is not sampled allocates
// nothing at all. The tests hold these lines.
package telemetry
