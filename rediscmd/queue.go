package rediscmd

// queue is ops in the order in which they came. It is an array and not a list through
// the ops: these lie anywhere in memory, and who takes many at once fetches them side
// by side, where a list would have each one fetched for the address of the next.
type queue struct {
	ops   []*Op
	taken int // of them, from the front
}

// maxKept is the most room that an empty queue keeps.
const maxKept = 1 << 14

func (q *queue) n() int     { return len(q.ops) - q.taken }
func (q *queue) first() *Op { return q.ops[q.taken] }
func (q *queue) all() []*Op { return q.ops[q.taken:] }

func (q *queue) push(op *Op) {
	if len(q.ops) == cap(q.ops) && q.taken > len(q.ops)/2 {
		n := copy(q.ops, q.ops[q.taken:])
		clear(q.ops[n:])
		q.ops, q.taken = q.ops[:n], 0
	}
	q.ops = append(q.ops, op)
}

func (q *queue) pop() *Op {
	op := q.ops[q.taken]
	q.skip(1)
	return op
}

// move appends up to most of q's ops to ops.
func (q *queue) move(ops []*Op, most int) []*Op {
	n := min(q.n(), most)
	ops = append(ops, q.ops[q.taken:q.taken+n]...)
	q.skip(n)
	return ops
}

// skip lets go of the first n.
func (q *queue) skip(n int) {
	clear(q.ops[q.taken : q.taken+n])
	q.taken += n
	if q.taken < len(q.ops) {
		return
	}
	q.ops, q.taken = q.ops[:0], 0
	if cap(q.ops) > maxKept {
		q.ops = nil
	}
}
