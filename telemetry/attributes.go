package telemetry

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// Every attribute key of the library is in this block, so that a change of the
// namespace is a change of one screen. The namespace is the library's own name:
// OpenTelemetry has no convention for locks, and a bare "lock." could become
// one.
const (
	keyLockName     = attribute.Key("holdfast.lock.name")
	keyLockTemplate = attribute.Key("holdfast.lock.template")
	keyLockKind     = attribute.Key("holdfast.lock.kind")

	keyAcquireMode   = attribute.Key("holdfast.acquire.mode")
	keyOwnerID       = attribute.Key("holdfast.owner.id")
	keyOutcome       = attribute.Key("holdfast.outcome")
	keyContended     = attribute.Key("holdfast.contended")
	keyReentrant     = attribute.Key("holdfast.reentrant")
	keyWaitDuration  = attribute.Key("holdfast.wait.duration")
	keyAttempts      = attribute.Key("holdfast.attempts")
	keyWakeupReason  = attribute.Key("holdfast.wakeup.reason")
	keyQueuePosition = attribute.Key("holdfast.queue.position")

	keyBlockerOwner  = attribute.Key("holdfast.blocker.owner.id")
	keyBlockerOrigin = attribute.Key("holdfast.blocker.origin")
	keyBlockerCount  = attribute.Key("holdfast.blocker.count")
	keyLinkType      = attribute.Key("holdfast.link.type")

	keyHoldCount     = attribute.Key("holdfast.hold.count")
	keyLeaseMode     = attribute.Key("holdfast.lease.mode")
	keyRenewals      = attribute.Key("holdfast.renewals")
	keyRenewMargin   = attribute.Key("holdfast.renew.margin.min")
	keyReleaseReason = attribute.Key("holdfast.release.reason")

	keyRenewOutcome = attribute.Key("holdfast.renew.outcome")
	keyLossReason   = attribute.Key("holdfast.loss.reason")
	keyWakeupResult = attribute.Key("holdfast.wakeup.result")
	keyHandoffScope = attribute.Key("holdfast.handoff.scope")
	keyCleanupCause = attribute.Key("holdfast.cleanup.cause")
	keyRequestState = attribute.Key("holdfast.request.state")
)

// typedError is an error that names its own class, as semconv proposes.
type typedError interface {
	error
	ErrorType() string
}

// errorType is the value of error.type: what the error calls itself, else
// fallback, else what semconv derives from the Go type. The fallback comes
// before the Go type because the usual error of a caller that ran out of time
// is a join, and "*errors.joinError" tells a dashboard nothing.
func errorType(err error, fallback string) string {
	if err != nil {
		// The plain assertion first: it allocates nothing.
		te, ok := err.(typedError)
		if !ok {
			te, ok = errors.AsType[typedError](err)
		}
		if ok {
			if s := te.ErrorType(); s != "" {
				return validText(s)
			}
		}
	}
	if fallback != "" {
		return fallback
	}
	return semconv.ErrorType(err).Value.AsString()
}

// validText returns s with every byte that is not UTF-8 written as \xNN. A lock
// name is any string of bytes for Redis, but OTLP refuses a whole batch of spans
// for one invalid string. Valid text is returned as it is, without a copy.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.Grow(len(s) + 12)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteString(`\x`)
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&0xf])
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}
