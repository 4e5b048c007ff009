package rediscmd

import (
	"strconv"
	"sync/atomic"
	"time"
)

// wireLease is a lease in whole milliseconds, rounded up. A lease of 0 would be a
// grant without a key, and one near the top of int64 a key without an end.
func wireLease(lease time.Duration) (int64, error) {
	if lease < time.Millisecond || lease > MaxLease {
		return 0, &ArgError{"lease", lease.String()}
	}
	return int64((lease + time.Millisecond - 1) / time.Millisecond), nil
}

// leaseText is the wire form of the lease used last. A program uses few different
// leases, and nearly always the watchdog's.
type leaseText struct{ last atomic.Pointer[leaseEntry] }

type leaseEntry struct {
	ms   int64
	text string
}

func (l *leaseText) format(ms int64) string {
	if ms == 0 {
		return "0"
	}
	if e := l.last.Load(); e != nil && e.ms == ms {
		return e.text
	}
	e := &leaseEntry{ms, strconv.FormatInt(ms, 10)}
	l.last.Store(e)
	return e.text
}
