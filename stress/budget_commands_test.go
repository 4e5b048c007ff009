package stress

import (
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// Many waiters in one runtime: the lock goes from one to the next in one round
// trip, with the few that a queue's beginning and end cost on top.
func TestScriptsPerHandover(t *testing.T) {
	const maxScripts = 1.2
	s := redistest.Start(t)
	c := crowd{
		locks:    []*holdfast.Lock{start(t, option(s.Addr())).Lock("crowd")},
		workers:  512,
		sections: 20,
	}
	used := c.run(t, s)
	per := float64(used.scripts()) / float64(c.handovers())
	t.Logf("%.3f scripts, %.2f commands per hand-over", per, float64(used.all())/float64(c.handovers()))
	if per > maxScripts {
		t.Errorf("%.3f scripts per hand-over, want at most %v: %v", per, maxScripts, used)
	}
}

// Waiters in several runtimes: what the server does for a hand-over, every
// command inside the scripts counted, and the turns that runtimes take.
func TestCommandsPerHandover(t *testing.T) {
	const maxCommands, runtimes = 4, 4
	s := redistest.Start(t)
	c := crowd{workers: 64, sections: 40}
	for range runtimes {
		c.locks = append(c.locks, start(t, option(s.Addr())).Lock("crowd"))
	}
	used := c.run(t, s)
	per := float64(used.all()) / float64(c.handovers())
	t.Logf("%.2f commands, %.3f scripts per hand-over", per, float64(used.scripts())/float64(c.handovers()))
	if per > maxCommands {
		t.Errorf("%.2f commands per hand-over, want at most %v: %v", per, maxCommands, used)
	}
}

// Locks under the watchdog: leases that fall due together are renewed together.
func TestScriptsPerRenewal(t *testing.T) {
	const held, periods, renewalsPerScript = 5000, 3, 50
	s := redistest.Start(t)
	rt := start(t, option(s.Addr()), holdfast.WithWatchdogTimeout(3*time.Second))
	holds := takeAll(t, rt, "held-", held)
	before := callsOn(t, s)
	var used calls
	eventually(t, patience, "all leases are renewed three times", func() bool {
		used = callsOn(t, s).since(before)
		return used["pexpire"] >= held*periods // one for each lease that is renewed
	})
	per := float64(used["pexpire"]) / float64(used.scripts())
	t.Logf("%.1f renewals per script", per)
	if per < renewalsPerScript {
		t.Errorf("%.1f renewals per script, want at least %d: %v", per, renewalsPerScript, used)
	}
	if n := keysLeft(s); n != held {
		t.Errorf("%d keys, want %d", n, held)
	}
	wantHeld(t, holds)
}
