package actors

import (
	"sync"
	"sync/atomic"
	"testing"
)

// tray is what a mailbox delivers to and is scheduled by. Like the table's, its
// posters drain themselves.
type tray struct {
	t      *testing.T
	box    *mailbox
	handle func(*message)

	inside  atomic.Int32
	drains  atomic.Int32
	handled atomic.Int32
	systems []any
}

func newTray(t *testing.T, handle func(*message)) *tray {
	tr := &tray{t: t, box: newMailbox(), handle: handle}
	tr.box.RegisterHandlers(tr, tr)
	return tr
}

func (tr *tray) InvokeSystemMessage(m any) { tr.systems = append(tr.systems, m) }
func (tr *tray) EscalateFailure(any, any)  {}
func (tr *tray) Throughput() int           { return 1 }

func (tr *tray) Schedule(run func()) {
	tr.drains.Add(1)
	run()
}

func (tr *tray) InvokeUserMessage(m any) {
	if tr.inside.Add(1) != 1 {
		tr.t.Error("two drains at a time")
	}
	tr.handle(m.(*message))
	tr.handled.Add(1)
	tr.inside.Add(-1)
}

func TestMailboxKeepsOrder(t *testing.T) {
	var got []*message
	tr := newTray(t, func(m *message) { got = append(got, m) })
	sent := make([]message, 100)
	for i := range sent {
		tr.box.PostUserMessage(&sent[i])
	}
	if len(got) != len(sent) {
		t.Fatalf("%d of %d messages arrived", len(got), len(sent))
	}
	for i := range sent {
		if got[i] != &sent[i] {
			t.Fatalf("message %d arrived out of order", i)
		}
		if sent[i].link != nil {
			t.Fatalf("message %d is still linked", i)
		}
	}
}

// What a handler posts is handled by the drain that runs it, after what was there
// before; a message can be sent again once it was delivered.
func TestMailboxHandlesWhatHandlersPost(t *testing.T) {
	var order []string
	var tr *tray
	var a, b, c message
	first := true
	tr = newTray(t, func(m *message) {
		switch m {
		case &a:
			order = append(order, "a")
			if first {
				first = false
				tr.box.PostUserMessage(&b)
				tr.box.PostUserMessage(&c)
				tr.box.PostUserMessage(&a)
			}
			order = append(order, "end of a")
		case &b:
			order = append(order, "b")
		case &c:
			order = append(order, "c")
		}
	})
	tr.box.PostUserMessage(&a)
	want := []string{"a", "end of a", "b", "c", "a", "end of a"}
	if len(order) != len(want) {
		t.Fatalf("handled %v, want %v", order, want)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("handled %v, want %v", order, want)
		}
	}
	if n := tr.drains.Load(); n != 1 {
		t.Errorf("%d drains, want 1", n)
	}
}

func TestMailboxTakesSystemMessagesFirst(t *testing.T) {
	var tr *tray
	var a, b message
	seen := -1
	tr = newTray(t, func(m *message) {
		if m == &a {
			tr.box.PostUserMessage(&b)
			tr.box.PostSystemMessage("stop")
			return
		}
		seen = len(tr.systems)
	})
	tr.box.PostUserMessage(&a)
	if seen != 1 {
		t.Errorf("%d system messages had been handled before the user message, want 1", seen)
	}
}

func TestMailboxConcurrentPosters(t *testing.T) {
	const posters, each = 16, 2000
	type letter struct {
		message
		poster, number int
	}
	letters := make([][]letter, posters)
	where := map[*message]*letter{}
	for p := range letters {
		letters[p] = make([]letter, each)
		for i := range letters[p] {
			l := &letters[p][i]
			l.poster, l.number = p, i
			where[&l.message] = l
		}
	}
	next := make([]int, posters) // a drain's own; the race detector proves that they do not overlap
	tr := newTray(t, func(m *message) {
		l := where[m]
		if l.number != next[l.poster] {
			t.Errorf("poster %d: message %d arrived as number %d", l.poster, l.number, next[l.poster])
		}
		next[l.poster]++
	})
	var wg sync.WaitGroup
	for p := range letters {
		wg.Go(func() {
			for i := range letters[p] {
				tr.box.PostUserMessage(&letters[p][i].message)
			}
		})
	}
	wg.Wait()
	// A drain that was scheduled runs on the poster: when all have returned,
	// everything has been handled.
	if n := tr.handled.Load(); n != posters*each {
		t.Errorf("%d of %d messages were handled", n, posters*each)
	}
	if tr.box.running || tr.box.head != nil || tr.box.tail != nil {
		t.Error("the mailbox is not at rest")
	}
}

// An idle mailbox wakes up for every burst anew.
func TestMailboxRestsBetweenBursts(t *testing.T) {
	var n int
	tr := newTray(t, func(*message) { n++ })
	var m message
	for range 1000 {
		tr.box.PostUserMessage(&m)
	}
	if n != 1000 || tr.drains.Load() != 1000 {
		t.Errorf("%d messages in %d drains, want 1000 each", n, tr.drains.Load())
	}
	if allocs := testing.AllocsPerRun(100, func() { tr.box.PostUserMessage(&m) }); allocs != 0 {
		t.Errorf("posting allocates %v times", allocs)
	}
}
