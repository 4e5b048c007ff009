package rediscmd

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// TestCluster is a smoke test of what is different there: lanes, sharded pub/sub,
// slots that move. The full matrix of faults is another issue's.
func TestCluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 3)
	client := cluster.Client(t)
	if client.Mode() != rueidis.ClientModeCluster {
		t.Fatalf("mode %v", client.Mode())
	}
	c := newClient(t, Config{Client: client, Cluster: true})
	call := caller{t, c.Mutex()}
	if !c.Sharded() {
		t.Error("not sharded on Redis 7")
	}
	m := c.lanes.slotMap.Load()
	if m == nil || len(m.lanes) != 3 {
		t.Fatalf("slot map %+v", m)
	}

	// A lock cycle on every node, with somebody listening.
	var items []*Renewal
	used := map[*lane]bool{}
	ears := map[string]*ear{}
	for i := range 30 {
		name := fmt.Sprintf("k%d", i)
		used[c.lanes.of(name)] = true
		ears[name] = newEar()
		sub := c.Subscriber().Subscribe(call.d.Channel(name), ears[name])
		defer sub.Close()
		ears[name].waitFor(t, subscribedEvent, 1)
		if r := call.acquire(AcquireArgs{Name: name, Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
			t.Fatalf("%s: %+v", name, r)
		}
		if r := call.inspect(name); r.Verdict != Held || r.Listeners != 1 {
			t.Errorf("%s: %+v", name, r)
		}
		if r := call.handOff(HandOffArgs{Name: name, From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldIfOthersListen}); r.Verdict != HandedOver {
			t.Errorf("%s: %+v", name, r)
		}
		items = append(items, &Renewal{Name: name, Owner: "a:2"})
	}
	if len(used) != 3 {
		t.Errorf("%d lanes used", len(used))
	}
	if calls := call.renew(items); len(calls) != len(items) {
		t.Errorf("%d scripts for %d names", len(calls), len(items))
	}
	for _, item := range items {
		if !item.Held {
			t.Errorf("%s not renewed", item.Name)
		}
		if r := call.release(ReleaseArgs{Name: item.Name, Owner: Owner{"a", 2}}); r.Verdict != Released || r.Silent {
			t.Errorf("%s: %+v", item.Name, r)
		}
		ears[item.Name].waitFor(t, "message 0", 1)
	}

	t.Run("a moved slot", func(t *testing.T) {
		name := "k0"
		from, to := owners(cluster, slot(name))
		moveSlot(t, cluster, slot(name), from, to)
		// The server ends the subscription; the subscriber finds the new home.
		ears[name].waitFor(t, subscribedEvent, 2)
		eventually(t, "the map follows", func() bool { return c.lanes.addr(name) == to.Addr() })
		call := caller{t, c.Mutex()}
		// The nodes need not agree yet, and one that is behind sends us back once
		// more: then a message is missed, and Subscribed says so.
		eventually(t, "a message from the new home", func() bool {
			if r := call.acquire(AcquireArgs{Name: name, Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted {
				t.Fatalf("%+v", r)
			}
			if r := call.release(ReleaseArgs{Name: name, Owner: Owner{"a", 1}}); r.Verdict != Released {
				t.Fatalf("%+v", r)
			}
			return ears[name].count("message 0") >= 2
		})
	})
}

// owners returns a slot's node, and another.
func owners(c *redistest.Cluster, slot uint16) (from, to *redistest.Server) {
	n := len(c.Nodes)
	i := 0
	for int(slot) >= (i+1)*slotCount/n {
		i++
	}
	return c.Nodes[i], c.Nodes[(i+1)%n]
}

// moveSlot gives an empty slot to another node. Importing it first makes the new
// owner's claim the younger one.
func moveSlot(t *testing.T, c *redistest.Cluster, slot uint16, from, to *redistest.Server) {
	t.Helper()
	id := func(node *redistest.Server) string {
		id, err := node.MustDo("CLUSTER", "MYID").ToString()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	s := strconv.Itoa(int(slot))
	to.MustDo("CLUSTER", "SETSLOT", s, "IMPORTING", id(from))
	from.MustDo("CLUSTER", "SETSLOT", s, "MIGRATING", id(to))
	for _, node := range append([]*redistest.Server{to, from}, c.Nodes...) {
		node.MustDo("CLUSTER", "SETSLOT", s, "NODE", id(to))
	}
}

func TestNewFailsWhenAClusterDoesNotAnswer(t *testing.T) {
	srv := redistest.Start(t)
	client := srv.Client(t)
	srv.Kill()
	if c, err := New(Config{Client: client, Cluster: true}); err == nil || c != nil {
		t.Error("guessed how wake-ups travel")
	}
}
