package rediscmd

import (
	"fmt"
	"strings"
)

// MaxNameLen is the longest lock name in bytes. The name is repeated in channels
// and auxiliary keys, and in every message buffered for a subscriber.
const MaxNameLen = 1024

// NameError says why a name cannot be a lock's.
type NameError struct {
	Name   string
	Reason string
}

// Error quotes at most the first 64 bytes of the name.
func (e *NameError) Error() string {
	name, more := e.Name, ""
	if len(name) > 64 {
		name, more = name[:64], fmt.Sprintf("... (%d bytes)", len(e.Name))
	}
	return fmt.Sprintf("invalid name %q%s: %s", name, more, e.Reason)
}

// reservedPrefixes begin the names of keys that Redisson's objects keep beside
// their main key, or of their channels. A lock of such a name could be another
// lock's queue.
var reservedPrefixes = [...]string{
	"redisson_lock__channel:",
	"redisson_unlock_latch:",
	"redisson_lock_queue:",
	"redisson_lock_timeout:",
	"redisson_lock_token:",
	"redisson_rwlock:",
	"redisson_sc:",
	"redisson_bqs:",
	"redisson_countdownlatch__channel__",
}

// ValidateName returns a *NameError for a name that is empty, longer than
// MaxNameLen or begins like an auxiliary key; in cluster mode also for a name
// whose auxiliary keys would lie in another slot than its own, because every
// script on it would be refused with CROSSSLOT. Any other bytes will do.
func ValidateName(name string, cluster bool) error {
	switch {
	case name == "":
		return &NameError{name, "empty"}
	case len(name) > MaxNameLen:
		return &NameError{name, fmt.Sprintf("longer than %d bytes", MaxNameLen)}
	}
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(name, prefix) {
			return &NameError{name, "the prefix " + prefix + " is reserved"}
		}
	}
	if cluster && !sameSlot(name) {
		return &NameError{name, "its braces put the lock and its channel into different cluster slots"}
	}
	return nil
}

func sameSlot(name string) bool {
	if !strings.ContainsAny(name, "{}") {
		return true
	}
	own := slot(name)
	return own == slot(keyWithPrefix("p", name)) && own == slot(keyWithSuffix(name, "s"))
}
