package wheel

import (
	"math"
	"time"
)

// never is the setting of a timer that is not set. As a delay it is 292 years.
const never = time.Duration(math.MaxInt64)

// node is an element of the near heap: an entry or a slot, and when to wake it.
type node[T any] struct {
	at    time.Duration
	entry *Entry[T]
	slot  *slot[T]
}

// moved tells the owner its new index.
func (n *node[T]) moved(i int) {
	if n.entry != nil {
		n.entry.pos = int32(i)
	} else {
		n.slot.pos = i
	}
}

// heap is a binary heap ordered by time, the earliest on top. container/heap would box every node.
type heap[T any] struct {
	nodes []node[T]
}

func (h *heap[T]) push(n node[T]) {
	h.nodes = append(h.nodes, n)
	h.up(len(h.nodes) - 1)
}

// remove takes out the node at index i.
func (h *heap[T]) remove(i int) node[T] {
	n, last := h.nodes[i], len(h.nodes)-1
	moved := h.nodes[last]
	h.nodes[last] = node[T]{} // no pointer stays behind for the collector
	h.nodes = h.nodes[:last]
	if i < last {
		h.nodes[i] = moved
		if !h.down(i) {
			h.up(i)
		}
	}
	return n
}

func (h *heap[T]) up(i int) {
	n := h.nodes[i]
	for i > 0 {
		parent := (i - 1) / 2
		if h.nodes[parent].at <= n.at {
			break
		}
		h.nodes[i] = h.nodes[parent]
		h.nodes[i].moved(i)
		i = parent
	}
	h.nodes[i] = n
	h.nodes[i].moved(i)
}

// down sinks the node at index i and says whether it moved.
func (h *heap[T]) down(i int) bool {
	n, start := h.nodes[i], i
	for {
		child := 2*i + 1
		if child >= len(h.nodes) {
			break
		}
		if right := child + 1; right < len(h.nodes) && h.nodes[right].at < h.nodes[child].at {
			child = right
		}
		if n.at <= h.nodes[child].at {
			break
		}
		h.nodes[i] = h.nodes[child]
		h.nodes[i].moved(i)
		i = child
	}
	h.nodes[i] = n
	h.nodes[i].moved(i)
	return i != start
}

// setTimer sees to it that the runtime timer fires at the given time or before. While somebody is delivering there is no
// need: whoever delivers looks at the heap again before leaving.
func (w *Wheel[T]) setTimer(at, now time.Duration) {
	if w.draining || at >= w.timerAt {
		return
	}
	w.timerAt = at
	w.timer.Reset(max(0, at-now))
}

// onTimer runs when the top of the heap is due, or was when it got canceled.
func (w *Wheel[T]) onTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timerAt = never
	w.drain()
}
