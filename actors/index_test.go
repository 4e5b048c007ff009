package actors

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// An index finds what a map would, with names whose hashes are the same, too, and is
// about as large as what is in it.
func TestIndex(t *testing.T) {
	kinds := []*Kind{{}, {}}
	for _, hashes := range []uint64{1, 64, 1 << 40} {
		x, in := newIndex(), map[key]*cell{}
		var cells []*cell
		for i := range 6000 {
			if grows := i/1500%2 == 0; grows && rand.IntN(10) > 0 || len(cells) == 0 {
				k := key{fmt.Sprint(rand.IntN(5000)), kinds[rand.IntN(2)]}
				if in[k] != nil {
					continue
				}
				c := &cell{key: k, hash: (uint64(len(k.name)*7919+int(k.name[0])*31+i) % hashes) << 8}
				x.add(c)
				in[k], cells = c, append(cells, c)
			} else {
				j := rand.IntN(len(cells))
				c := cells[j]
				cells[j] = cells[len(cells)-1]
				cells = cells[:len(cells)-1]
				x.remove(c)
				delete(in, c.key)
				if c.next != nil || x.find(c.key, c.hash) != nil {
					t.Fatal("a cell that was taken out is found")
				}
			}
			if n := len(x.heads); x.n != len(in) || n < x.n || n > max(fewHeads, 9*x.n) {
				t.Fatalf("%d cells, %d chains, want %d cells", x.n, n, len(in))
			}
		}
		for k, c := range in {
			if got := x.find(k, c.hash); got != c {
				t.Errorf("%s: found %v", k.name, got)
			}
			if x.find(key{"nobody", kinds[0]}, c.hash) != nil {
				t.Error("a name that is not in is found")
			}
		}
		keys := map[key]bool{}
		for _, k := range x.keys() {
			keys[k] = true
		}
		if len(keys) != len(in) || len(x.keys()) != len(in) {
			t.Errorf("%d keys of %d cells", len(keys), len(in))
		}
	}
}
