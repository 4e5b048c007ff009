package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Bucket boundaries, in the unit of their instrument.
var (
	// A lock on a near Redis takes 0.1 to 0.5 ms, below the first bucket of the
	// database convention (1 ms); a wait can last a minute.
	waitBuckets = []float64{
		.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60,
	}
	// How long work inside a lock lasts: up to a quarter of an hour.
	holdBuckets = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 120, 300, 900}
	// A watchdog lease of 30 s that is renewed at a third has 20 s left: the
	// low buckets are the early warning.
	marginBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 20, 30, 60, 120, 300}
	batchBuckets  = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

type acquireKey struct {
	kind, outcome, errorType string
	contended                bool
}

type pair struct{ a, b string }

// instruments holds each synchronous instrument beside the attribute sets it is
// recorded with.
type instruments struct {
	acquireDuration metric.Float64Histogram
	acquireSets     *recordSets[acquireKey]
	waitDuration    metric.Float64Histogram
	waitSets        *recordSets[pair] // kind, outcome
	holdDuration    metric.Float64Histogram
	holdSets        *recordSets[pair] // kind, release reason
	releaseDuration metric.Float64Histogram
	releaseSets     *recordSets[pair] // kind, error type
	renewDuration   metric.Float64Histogram
	renewSets       *recordSets[string] // error type
	renewLeases     metric.Int64Counter
	renewLeaseSets  *addSets[string] // outcome
	renewMargin     metric.Float64Histogram
	leaseLosses     metric.Int64Counter
	lossSets        *addSets[pair] // kind, reason
	wakeups         metric.Int64Counter
	wakeupSets      *addSets[pair] // reason, result
	handoffDuration metric.Float64Histogram
	handoffSets     *recordSets[string] // scope
	cleanups        metric.Int64Counter
	cleanupSets     *addSets[string] // cause
	batchSize       metric.Int64Histogram
	timerLag        metric.Float64Histogram
}

// init makes the instruments. The error joins the refusal of each.
func (in *instruments) init(m metric.Meter) error {
	var errs []error
	seconds := func(name, desc string, buckets []float64) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(desc),
			metric.WithExplicitBucketBoundaries(buckets...))
		errs = append(errs, err)
		return h
	}
	counter := func(name, unit, desc string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(desc))
		errs = append(errs, err)
		return c
	}

	in.acquireDuration = seconds("holdfast.client.acquire.duration",
		"Time from the request for a lock to its answer.", waitBuckets)
	in.waitDuration = seconds("holdfast.client.wait.duration",
		"Time that a contended request waited.", waitBuckets)
	in.holdDuration = seconds("holdfast.client.hold.duration",
		"Time that a lock was held.", holdBuckets)
	in.releaseDuration = seconds("holdfast.client.release.duration",
		"Time from the request to unlock to its answer.", waitBuckets)
	in.renewDuration = seconds("holdfast.client.renew.duration",
		"Duration of one batch of lease renewals.", waitBuckets)
	in.renewLeases = counter("holdfast.client.renew.leases", "{lease}",
		"Leases that a batch tried to renew, by outcome.")
	in.renewMargin = seconds("holdfast.client.renew.margin",
		"Time left on a lease when its renewal was acknowledged.", marginBuckets)
	in.leaseLosses = counter("holdfast.client.lease.losses", "{lease}",
		"Leases lost while they were held.")
	in.wakeups = counter("holdfast.client.wakeups", "{wakeup}",
		"Attempts of a waiter after a wake-up, by reason and result.")
	in.handoffDuration = seconds("holdfast.client.handoff.duration",
		"Time from an unlock to the next grant.", waitBuckets)
	in.cleanups = counter("holdfast.client.cleanups", "{grant}",
		"Grants that had to be given back, by cause.")
	in.timerLag = seconds("holdfast.runtime.timer.lag",
		"Time from the planned to the actual firing of the wheel.", waitBuckets)
	var err error
	in.batchSize, err = m.Int64Histogram("holdfast.runtime.batch.size", metric.WithUnit("{command}"),
		metric.WithDescription("Commands sent to Redis in one batch."),
		metric.WithExplicitBucketBoundaries(batchBuckets...))
	errs = append(errs, err)

	in.initSets()
	return errors.Join(errs...)
}

// initSets says which attributes each instrument has.
func (in *instruments) initSets() {
	in.acquireSets = newRecordSets(func(k acquireKey) []attribute.KeyValue {
		return withErrorType(k.errorType, keyLockKind.String(k.kind), keyOutcome.String(k.outcome),
			keyContended.Bool(k.contended))
	})
	in.waitSets = newRecordSets(pairOf(keyLockKind, keyOutcome))
	in.holdSets = newRecordSets(pairOf(keyLockKind, keyReleaseReason))
	in.releaseSets = newRecordSets(func(k pair) []attribute.KeyValue {
		return withErrorType(k.b, keyLockKind.String(k.a))
	})
	in.renewSets = newRecordSets(func(errType string) []attribute.KeyValue { return withErrorType(errType) })
	in.renewLeaseSets = newAddSets(oneOf(keyRenewOutcome))
	in.lossSets = newAddSets(pairOf(keyLockKind, keyLossReason))
	in.wakeupSets = newAddSets(pairOf(keyWakeupReason, keyWakeupResult))
	in.handoffSets = newRecordSets(oneOf(keyHandoffScope))
	in.cleanupSets = newAddSets(oneOf(keyCleanupCause))
}

func oneOf(a attribute.Key) func(string) []attribute.KeyValue {
	return func(v string) []attribute.KeyValue { return []attribute.KeyValue{a.String(v)} }
}

func pairOf(a, b attribute.Key) func(pair) []attribute.KeyValue {
	return func(p pair) []attribute.KeyValue { return []attribute.KeyValue{a.String(p.a), b.String(p.b)} }
}

// withErrorType adds error.type, which is absent on success by convention.
func withErrorType(errType string, kvs ...attribute.KeyValue) []attribute.KeyValue {
	if errType == "" {
		return kvs
	}
	return append(kvs, semconv.ErrorTypeKey.String(errType))
}
