package actors

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// renewals gathers what is due in one call of the wheel, by lock kind. What a
// renewal needs on its way to Redis exists only while it is on it.
type renewals []kindBatch

type kindBatch struct {
	kind *Kind
	due  []renewing
}

// renewing is one renewal on its way.
type renewing struct {
	item   rediscmd.Renewal
	tenure *tenure
	epoch  uint32 // of its watch, when it fell due
}

// add is called with the watch's mutex held.
func (b *renewals) add(t *tenure) {
	r := renewing{tenure: t, epoch: t.watch.epoch}
	kind := t.home().key.kind
	for i := range *b {
		if k := &(*b)[i]; k.kind == kind {
			k.due = append(k.due, r)
			return
		}
	}
	*b = append(*b, kindBatch{kind, []renewing{r}})
}

// items writes down what to send, once the batch is complete. The owners' texts
// are one allocation.
func (k *kindBatch) items() []*rediscmd.Renewal {
	items := make([]*rediscmd.Renewal, len(k.due))
	ends := make([]int, len(k.due))
	buf := make([]byte, 0, len(k.due)*maxOwnerText)
	for i := range k.due {
		buf = k.due[i].tenure.owner().append(buf)
		ends[i] = len(buf)
	}
	owners, from := string(buf), 0
	for i := range k.due {
		r := &k.due[i]
		r.item = rediscmd.Renewal{Name: r.tenure.home().key.name, Owner: owners[from:ends[i]], Value: r}
		items[i], from = &r.item, ends[i]
	}
	return items
}

// renew sends a batch. One that panics on its way out is answered, or its leases
// would count as in flight for ever: they are tried again within their time.
func (s *System) renew(k *Kind, items []*rediscmd.Renewal) {
	defer func() {
		if v := recover(); v != nil {
			s.complain("panic while renewing", items[0].Name, v, debug.Stack())
			s.Renewed(items, rediscmd.Reply{
				Outcome: rediscmd.OutcomeUnknown,
				Err:     fmt.Errorf("holdfast: internal error: %v", v),
				SentAt:  time.Now(),
			})
		}
	}()
	k.Door.Renew(s.rules.watchdog, items, s)
}
