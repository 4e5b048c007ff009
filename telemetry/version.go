package telemetry

// ScopeName is the instrumentation scope of every span and metric of this
// library. A View or a Collector filter selects them by it.
const ScopeName = "github.com/holdfast-go/holdfast"

// Version is the instrumentation version that travels with [ScopeName].
const Version = "0.1.0"
