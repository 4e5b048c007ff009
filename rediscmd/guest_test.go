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
		g := c.Announce("k")
		c.Mutex().Check(&w.op, w, "k", "a:1")
		g.Serve(time.Second)
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
		g := c.Announce("k")
		c.Mutex().Check(&a.op, a, "k", "a:1")
		c.Mutex().Check(&b.op, b, "k", "a:2")
		a.wait(t)
		b.wait(t)
		g.Serve(time.Second)
	})
	t.Run("nothing to do", func(*testing.T) { c.Announce("k").Serve(time.Second) })
	t.Run("no time", func(t *testing.T) {
		a := newCall()
		g := c.Announce("k")
		c.Mutex().Check(&a.op, a, "k", "a:1")
		g.Serve(0)
		a.wait(t)
	})
	t.Run("two guests", func(t *testing.T) {
		a := newCall()
		first, second := c.Announce("k"), c.Announce("k")
		c.Mutex().Check(&a.op, a, "k", "a:1")
		first.Serve(0) // the second one is still coming
		second.Serve(time.Second)
		a.wait(t)
	})
}

// Whatever arrives while a guest is away is not forgotten when it comes home.
func TestAGuestsPatienceEndsItsBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := redistest.NewBubble(t)
		c := newClient(t, Config{Client: b.Client(t), Workers: 1, Timeout: time.Second})
		b.SetFault(redistest.DropReplies)
		own, other := newCall(), newCall()
		g := c.Announce("k")
		c.Mutex().Check(&own.op, own, "k", "a:1")
		began := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			c.Mutex().Check(&other.op, other, "l", "a:1")
		}()
		g.Serve(100 * time.Millisecond)
		if took := time.Since(began); took < 100*time.Millisecond || took > 200*time.Millisecond {
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
	g := c.Announce("k")
	c.Mutex().Check(&w.op, w, "k", "a:1")
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	w.wait(t)
	g.Serve(time.Second)
}
