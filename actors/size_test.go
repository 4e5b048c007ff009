package actors

import (
	"testing"
	"unsafe"
)

// What there is one of for each lock that is held, or for each call that waits,
// is counted in bytes here, so that growth is noticed. The allocator rounds sizes
// up (416, 448, 480, 512, 576 around a Hold's; 96, 112, 128 around a cell's): eight
// bytes more can cost thirty-two.
func TestSizes(t *testing.T) {
	for _, s := range []struct {
		what string
		size uintptr
		most uintptr
		why  string
	}{
		{"Hold", unsafe.Sizeof(Hold{}), 416, "one for each held lock and each waiter"},
		{"call", unsafe.Sizeof(call{}), 120, "in each Hold: what only an unlock needs belongs into duty"},
		{"tenure", unsafe.Sizeof(tenure{}), 104, "in each Hold, used once it is granted: what only a renewal needs belongs into renewing"},
		{"promise", unsafe.Sizeof(Hold{}.promise), 56, "in each Hold"},
		{"timer", unsafe.Sizeof(Hold{}.timer), 48, "in each Hold"},
		{"cell", unsafe.Sizeof(cell{}), 112, "one for each name that is held or waited for, its link in the table included"},
		{"shard", unsafe.Sizeof(shard{}), 64, "as long as a cache line, or more lines are touched for each look-up"},
		{"work", unsafe.Sizeof(work{}), 352, "one for each name that is waited for"},
		{"message", unsafe.Sizeof(message{}), 24, "in each call"},
		{"Owner", unsafe.Sizeof(Owner{}), 16, "in each call, twice in a command"},
	} {
		if s.size > s.most {
			t.Errorf("a %s is %d bytes, want at most %d: %s", s.what, s.size, s.most, s.why)
		}
	}
}
