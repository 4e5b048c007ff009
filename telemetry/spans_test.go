package telemetry

import (
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// TestScratchForgets holds that pooled memory does not keep a lock's name, or an
// option of one span, alive or visible to the next user.
func TestScratchForgets(t *testing.T) {
	sc := &scratch{}
	sc.text(keyLockName, "secret")
	sc.start = append(sc.start, acquireKind)
	sc.end = append(sc.end, trace.WithTimestamp(grant))
	attrs, start, end := sc.attrs, sc.start, sc.end
	sc.put()
	if attrs[0] != (attribute.KeyValue{}) || start[0] != nil || end[0] != nil {
		t.Errorf("kept %v, %v, %v", attrs[0], start[0], end[0])
	}
}
