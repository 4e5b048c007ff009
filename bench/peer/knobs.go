package peer

import "time"

// The knobs of go-redis' two peers, as two sweeps on two cores left them.
//
// Connections, at 1024 callers of distinct names. Thousands of pairs/s of redsync
// and redislock with 4: 14 and 15, 8: 18 and 24, 16: 22 and 26, 32: 20 and 19, 64:
// 13 and 15, 128 and 256: 13 and 16.
const (
	redsyncPool   = 16
	redislockPool = 16
)

// The pause between two attempts, at 512 callers of one name: grants/s, and how many
// of them were hand-overs to another caller, which is what a lock is for.
//
//	          redsync           redislock
//	  2 ms       65                 91          the server is busy with saying no
//	 20 ms    1 520    940       5 610  2 580
//	 40 ms    4 500  1 760       7 140  1 500
//	 80 ms    7 730  1 080       7 390    670
//	150 ms    6 960    420       8 140    160   whoever unlocks takes it again
//
// With the longest pauses most of the 512 never had the lock within a second. On the
// autopipeline the same pauses are the best.
const (
	redsyncDelay   = 40 * time.Millisecond
	redislockDelay = 20 * time.Millisecond
)
