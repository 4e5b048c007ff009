package redistest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

const slots = 16384

// Cluster is a Redis Cluster of primaries on loopback, without replicas.
type Cluster struct {
	Nodes []*Server // node i owns the i-th share of the slots
}

// StartCluster starts a cluster of n primaries and returns when all agree that it
// is up, which takes about two seconds. Like Start it skips without redis-server.
func StartCluster(tb testing.TB, n int) *Cluster {
	tb.Helper()
	c := &Cluster{}
	for range n {
		c.Nodes = append(c.Nodes, Start(tb,
			"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
			"--cluster-node-timeout", "2000", "--cluster-port", freePort(tb),
		))
	}
	for i, node := range c.Nodes {
		from, to := i*slots/n, (i+1)*slots/n-1
		node.MustDo("CLUSTER", "ADDSLOTSRANGE", fmt.Sprint(from), fmt.Sprint(to))
		if i > 0 {
			c.meet(node)
		}
	}
	for _, node := range c.Nodes {
		node.awaitCluster(n)
	}
	return c
}

// meet introduces a node to the first one.
func (c *Cluster) meet(node *Server) {
	node.tb.Helper()
	bus := ""
	if port, err := c.Nodes[0].MustDo("CONFIG", "GET", "cluster-port").AsStrMap(); err == nil {
		bus = port["cluster-port"]
	}
	node.MustDo("CLUSTER", "MEET", "127.0.0.1", c.Nodes[0].port, bus)
}

func (s *Server) awaitCluster(n int) {
	s.tb.Helper()
	var info string
	for range 3000 {
		info, _ = s.Do("CLUSTER", "INFO").ToString()
		if strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_size:%d\r", n)) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.tb.Fatalf("redistest: the cluster does not come up:\n%s", info)
}

// Option returns what a cluster client needs.
func (c *Cluster) Option() rueidis.ClientOption {
	o := option(c.Nodes[0].Addr())
	o.ForceSingleClient = false
	return o
}

// Client connects with Option, changed by mods, and is closed when the test ends.
func (c *Cluster) Client(tb testing.TB, mods ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	o := c.Option()
	for _, mod := range mods {
		mod(&o)
	}
	client, err := rueidis.NewClient(o)
	if err != nil {
		tb.Fatalf("redistest: connect: %v", err)
	}
	tb.Cleanup(client.Close)
	return client
}
