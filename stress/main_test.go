package stress

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

func TestMain(m *testing.M) {
	if os.Getenv(envAddr) != "" { // started by TestStormOfProcesses
		os.Exit(processMain())
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait: a hang must not look like slowness.
const patience = 60 * time.Second

// stormTime is how long a storm lasts.
func stormTime() time.Duration {
	if testing.Short() {
		return 2 * time.Second
	}
	return 10 * time.Second
}

// start makes a runtime that is closed when the test ends.
func start(tb testing.TB, o rueidis.ClientOption, opts ...holdfast.Option) *holdfast.Runtime {
	tb.Helper()
	rt, err := holdfast.New(o, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := rt.Close(ctx); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return rt
}

// option is what a program would pass: an address and nothing else.
func option(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true}
}

func lock(tb testing.TB, l *holdfast.Lock, opts ...holdfast.LockOption) *holdfast.Hold {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		tb.Fatalf("lock %s: %v", l.Name(), err)
	}
	return h
}

func unlock(tb testing.TB, h *holdfast.Hold) {
	tb.Helper()
	if err := h.Close(); err != nil {
		tb.Fatalf("unlock %s: %v", h.Name(), err)
	}
}

// keysLeft counts the keys of the server.
func keysLeft(s *redistest.Server) int64 {
	n, err := s.Do("DBSIZE").AsInt64()
	if err != nil {
		return -1
	}
	return n
}

// eventually waits for something that happens by itself, and returns how long it
// took.
func eventually(tb testing.TB, within time.Duration, what string, ok func() bool) time.Duration {
	tb.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > within {
			tb.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(began)
}
