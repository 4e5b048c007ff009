package telemetry

// The values below are the closed sets that the catalogue in the package
// comment lists. They are exported so that a caller cannot misspell one and
// thereby open a new metric series.

// Kinds of lock: holdfast.lock.kind.
const (
	KindMutex     = "mutex"
	KindFair      = "fair"
	KindSpin      = "spin"
	KindFenced    = "fenced"
	KindRead      = "read"
	KindWrite     = "write"
	KindSemaphore = "semaphore"
	KindPermit    = "permit"
	KindMulti     = "multi"
	KindLatch     = "latch"
)

// Ways to ask for a lock: holdfast.acquire.mode.
const (
	ModeLock  = "lock"  // waits until the context ends
	ModeTry   = "try"   // one attempt
	ModeTimed = "timed" // waits for a bounded time
)

// Ways an acquire ends: holdfast.outcome. Acquired, busy and canceled are
// answers, not failures; everything else sets the span status to Error.
const (
	OutcomeAcquired = "acquired"
	OutcomeBusy     = "busy"
	OutcomeCanceled = "canceled"
	OutcomeTimeout  = "timeout"
	OutcomeError    = "error"
	OutcomeClosed   = "closed"
)

// What made a waiter try again: holdfast.wakeup.reason.
const (
	WakeupMessage = "message" // an unlock was announced
	WakeupTTL     = "ttl"     // the holder's lease should have run out
	WakeupPoll    = "poll"    // the bounded poll
)

// Where the holder that blocked a waiter lives: holdfast.blocker.origin.
const (
	OriginLocal  = "local"  // this runtime
	OriginRemote = "remote" // another runtime, or a Redisson client: on the wire they are alike
)

// How a lease is kept: holdfast.lease.mode.
const (
	LeaseWatchdog = "watchdog" // renewed until unlock
	LeaseFixed    = "fixed"    // ends by itself
)

// Why a hold ended: holdfast.release.reason.
const (
	ReleaseUnlock    = "unlock"
	ReleaseUnclaimed = "unclaimed" // canceled before anybody had taken the grant
	ReleaseLost      = "lost"      // holdfast.loss.reason says how
	ReleaseClose     = "close"
)

// Why a lease was lost: holdfast.loss.reason.
const (
	LossExpired       = "expired"
	LossGone          = "gone"
	LossForceUnlocked = "force_unlocked"
)

// How far a hand-off reached: holdfast.handoff.scope.
const (
	ScopeLocal = "local" // within one runtime, in one round trip
)

// Why a grant had to be given back: holdfast.cleanup.cause.
const (
	CleanupCanceled  = "canceled"
	CleanupUnclaimed = "unclaimed"
)

// Values that this package fills in itself.
const (
	renewRenewed = "renewed"
	renewLost    = "lost"
	renewError   = "error"

	wakeupWon  = "won"
	wakeupLost = "lost"

	stateQueued    = "queued"
	stateInFlight  = "inflight"
	stateWaiting   = "waiting"
	stateUnclaimed = "unclaimed"

	linkBlockedBy    = "blocked_by"
	procedureAcquire = "holdfast.acquire"
	errorLeaseLost   = "lease_lost"
)
