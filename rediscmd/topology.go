package rediscmd

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

const (
	topologyEvery = 5 * time.Second
	topologyLeast = 100 * time.Millisecond // between two refreshes
)

// topology keeps the slot map up to date: every few seconds, and soon after an
// error that says it is stale. One goroutine, until close.
type topology struct {
	c     *Client
	stale chan struct{} // cap 1
	stop  chan struct{}
	done  chan struct{}
}

func newTopology(c *Client) *topology {
	t := &topology{c: c, stale: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	t.refresh()
	go t.run()
	return t
}

// noticed looks at an error for signs of a stale map. It never blocks.
func (t *topology) noticed(err error) {
	if redisErr, ok := asRedisError(err); ok {
		switch errorCode(redisErr.Error()) {
		case "MOVED", "ASK", "CLUSTERDOWN", "READONLY", "MASTERDOWN":
		default:
			return
		}
	}
	t.nudge()
}

func (t *topology) nudge() {
	select {
	case t.stale <- struct{}{}:
	default:
	}
}

func (t *topology) run() {
	defer close(t.done)
	timer := time.NewTimer(topologyEvery)
	defer timer.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-t.stale:
		case <-timer.C:
		}
		if t.refresh() {
			t.c.subscriber.rehome()
		}
		timer.Reset(topologyLeast)
		select {
		case <-t.stop:
			return
		case <-timer.C:
		}
		timer.Reset(topologyEvery)
	}
}

func (t *topology) close() {
	close(t.stop)
	<-t.done
}

// refresh asks for the slots, and reports whether their owners have changed.
func (t *topology) refresh() bool {
	ctx, cancel := context.WithTimeout(context.Background(), t.c.cfg.Timeout)
	defer cancel()
	client := t.c.cfg.Client
	reply, err := client.Do(ctx, client.B().ClusterSlots().Build()).ToMessage()
	if err != nil {
		t.c.log(slog.LevelDebug, "rediscmd: cluster slots", "error", err)
		return false
	}
	m, err := parseSlots(&reply)
	if err != nil {
		t.c.log(slog.LevelWarn, "rediscmd: cluster slots", "error", err)
		return false
	}
	if old := t.c.lanes.slotMap.Load(); old != nil && old.same(m) {
		return false
	}
	t.c.lanes.install(m)
	return true
}

func (m *slotMap) same(other *slotMap) bool {
	for i := range m.owner {
		if m.at(i) != other.at(i) {
			return false
		}
	}
	return true
}

func (m *slotMap) at(slot int) string {
	if i := m.owner[slot]; i >= 0 {
		return m.addrs[i]
	}
	return ""
}

// parseSlots reads CLUSTER SLOTS: a list of {first, last, {host, port, ...}, ...},
// the primary first.
func parseSlots(reply *rueidis.RedisMessage) (*slotMap, error) {
	ranges, err := reply.ToArray()
	if err != nil {
		return nil, err
	}
	m := &slotMap{}
	for i := range m.owner {
		m.owner[i] = -1
	}
	index := map[string]int16{}
	for i := range ranges {
		from, to, addr, err := parseRange(&ranges[i])
		if err != nil {
			return nil, err
		}
		n, ok := index[addr]
		if !ok {
			n = int16(len(m.addrs))
			index[addr] = n
			m.addrs = append(m.addrs, addr)
		}
		for s := from; s <= to; s++ {
			m.owner[s] = n
		}
	}
	return m, nil
}

func parseRange(m *rueidis.RedisMessage) (from, to int64, addr string, err error) {
	bad := func() (int64, int64, string, error) {
		return 0, 0, "", fmt.Errorf("unexpected slot range: %.100q", m.String())
	}
	list, err := m.ToArray()
	if err != nil || len(list) < 3 {
		return bad()
	}
	from, err1 := list[0].ToInt64()
	to, err2 := list[1].ToInt64()
	node, err3 := list[2].ToArray()
	if err1 != nil || err2 != nil || err3 != nil || len(node) < 2 || from < 0 || to >= slotCount {
		return bad()
	}
	host, _ := node[0].ToString() // nil: the host is not known, the port still tells nodes apart
	port, err := node[1].ToInt64()
	if err != nil {
		return bad()
	}
	return from, to, net.JoinHostPort(host, strconv.FormatInt(port, 10)), nil
}
