package holdfast_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain holds the whole package to V9: after every runtime was closed, no
// goroutine of theirs is left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
