package actors

import (
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// renewals gathers what is due in one call of the wheel, by lock kind. What a
// renewal needs on its way to Redis exists only while it is on it, and is used again.
type renewals []*kindBatch

type kindBatch struct {
	kind  *Kind
	due   []renewing
	items []*rediscmd.Renewal
	ends  []int // of the owners' numbers in text
	text  []byte
	left  atomic.Int32 // renewals that have not been answered, and one until all are sent
}

// renewing is one renewal on its way.
type renewing struct {
	item   rediscmd.Renewal
	tenure *tenure
	batch  *kindBatch
	epoch  uint32 // of its watch, when it fell due

	result renewalResult // once it is answered
	left   time.Duration // what the deadline had left then
}

var batches = sync.Pool{New: func() any { return new(kindBatch) }}

// add is called with the watch's mutex held.
func (b *renewals) add(t *tenure) {
	r := renewing{tenure: t, epoch: t.watch.epoch}
	kind := t.home().key.kind
	for _, k := range *b {
		if k.kind == kind {
			r.batch = k
			k.due = append(k.due, r)
			return
		}
	}
	k := batches.Get().(*kindBatch)
	r.batch = k
	k.kind, k.due = kind, append(k.due, r)
	*b = append(*b, k)
}

// write makes the items to send, once the batch is complete. All owners are of this
// runtime, and differ in their numbers, whose texts are one allocation.
func (k *kindBatch) write() {
	k.left.Store(int32(len(k.due)) + 1)
	for i := range k.due {
		k.text = strconv.AppendInt(k.text, k.due[i].tenure.owner().number, 10)
		k.ends = append(k.ends, len(k.text))
	}
	numbers, from := string(k.text), 0
	for i := range k.due {
		r := &k.due[i]
		r.item = rediscmd.Renewal{Name: r.tenure.home().key.name, Owner: numbers[from:k.ends[i]], Value: r}
		k.items, from = append(k.items, &r.item), k.ends[i]
	}
}

// done counts n off. After the last one k belongs to others.
func (k *kindBatch) done(n int) {
	if k.left.Add(-int32(n)) != 0 {
		return
	}
	clear(k.due)
	clear(k.items)
	k.kind, k.due, k.items, k.ends, k.text = nil, k.due[:0], k.items[:0], k.ends[:0], k.text[:0]
	batches.Put(k)
}

// renew sends a batch. One that panics on its way out is answered, or its leases
// would count as in flight for ever: they are tried again within their time. Such a
// batch is never done, since what had left before the panic may be answered, too.
func (s *System) renew(k *kindBatch) {
	k.write()
	defer func() {
		if v := recover(); v != nil {
			k.left.Add(math.MaxInt32 / 2)
			s.complain("panic while renewing", k.items[0].Name, v, debug.Stack())
			s.Renewed(k.items, rediscmd.Reply{
				Outcome: rediscmd.OutcomeUnknown,
				Err:     fmt.Errorf("holdfast: internal error: %v", v),
				SentAt:  time.Now(),
			})
		}
	}()
	k.kind.Door.Renew(s.rules.watchdog, s.prefix, k.items, s)
	k.done(1)
}
