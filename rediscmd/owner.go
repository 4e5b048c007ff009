package rediscmd

import "strconv"

// Owner is who holds a lock: the hash field "runtime:number". It travels in two parts,
// so that whoever sends it need not write it down: the worker writes those of a whole
// run, in one allocation.
type Owner struct {
	Runtime string // any bytes, but not empty
	Number  int64
}

// String returns the field.
func (o Owner) String() string {
	var buf [64]byte // a uuid and any number
	return string(o.append(buf[:0]))
}

func (o Owner) append(buf []byte) []byte {
	buf = append(buf, o.Runtime...)
	return strconv.AppendInt(append(buf, ':'), o.Number, 10)
}

// owners adds the fields of a run's owners to its arguments. What was written stays
// as it is for good: rueidis may go on sending it when its caller has given up.
func (w *worker) owners(ops []*Op, args []string) []string {
	if len(ops) == 1 {
		return append(args, w.ownerField(ops[0].owner))
	}
	w.written, w.ends = w.written[:0], w.ends[:0]
	for _, op := range ops {
		w.written = op.owner.append(w.written)
		w.ends = append(w.ends, len(w.written))
	}
	all, from := string(w.written), 0
	for _, end := range w.ends {
		args, from = append(args, all[from:end]), end
	}
	return args
}

// ownerField returns one owner's field. The last one is kept: with one caller at a time,
// who was granted a lock is who gives it back.
func (w *worker) ownerField(o Owner) string {
	if o != w.spoke {
		w.spoke, w.said = o, o.String()
	}
	return w.said
}
