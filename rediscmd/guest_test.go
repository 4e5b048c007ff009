package rediscmd

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

func TestAGuestCarriesItsOwnOperation(t *testing.T) {
	_, c, _ := realServer(t)
	for range 3 {
		w := newCall()
		g := c.Announce("k", time.Minute)
		c.Mutex().Check(&w.op, w, "k", Owner{"a", 1})
		g.Serve()
		select {
		case <-w.done:
		default:
			t.Fatal("not completed when Serve returned")
		}
		if w.op.Reply.Verdict != Absent {
			t.Errorf("%+v", w.op.Reply)
		}
	}
	if l := c.lanes.only; l.workers != 0 || l.away != 0 || l.carried != 0 || l.coming != 0 {
		t.Errorf("%d workers, %d away with %d, %d coming", l.workers, l.away, l.carried, l.coming)
	}
}

func TestAGuestLeavesTheRestToWorkers(t *testing.T) {
	_, c, _ := realServer(t)
	t.Run("two operations", func(t *testing.T) {
		a, b := newCall(), newCall()
		g := c.Announce("k", time.Minute)
		c.Mutex().Check(&a.op, a, "k", Owner{"a", 1})
		c.Mutex().Check(&b.op, b, "k", Owner{"a", 2})
		a.wait(t)
		b.wait(t)
		g.Serve()
	})
	t.Run("nothing to do", func(*testing.T) { c.Announce("k", time.Minute).Serve() })
	t.Run("no time", func(t *testing.T) {
		a := newCall()
		g := c.Announce("k", time.Millisecond)
		c.Mutex().Check(&a.op, a, "k", Owner{"a", 1})
		g.Serve()
		a.wait(t)
	})
	t.Run("two guests", func(t *testing.T) {
		a := newCall()
		first, second := c.Announce("k", time.Minute), c.Announce("k", time.Minute)
		first.Serve() // with nothing; the second one is still coming
		c.Mutex().Check(&a.op, a, "k", Owner{"a", 1})
		second.Serve()
		a.wait(t)
	})
}

// Whatever arrives while a guest is away is not forgotten when it comes home.
func TestWhatComesWhileAGuestIsAwayIsSeenTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Workers: 1, Timeout: time.Second})
		b.SetFault(redistest.DropReplies)
		own, other := newCall(), newCall()
		g := c.Announce("k", time.Minute)
		c.Mutex().Check(&own.op, own, "k", Owner{"a", 1})
		began := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			c.Mutex().Check(&other.op, other, "l", Owner{"a", 1})
		}()
		g.Serve()
		if took := time.Since(began); took < time.Second || took > 2*time.Second {
			t.Errorf("served for %v", took)
		}
		if r := own.wait(t); r.Outcome != OutcomeUnknown {
			t.Errorf("%+v", r)
		}
		b.SetFault(redistest.NoFault)
		other.wait(t)
	})
}

// Close does not wait for a guest who has announced itself and not come yet.
func TestCloseFinishesWhatAGuestWouldHaveCarried(t *testing.T) {
	_, c, _ := realServer(t)
	w := newCall()
	g := c.Announce("k", time.Minute)
	c.Mutex().Check(&w.op, w, "k", Owner{"a", 1})
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	w.wait(t)
	g.Serve()
}
