// Package look reads what a server says about itself, for works and watchers that
// want to know in the middle of a trial.
package look

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// Load is what a server has done so far.
type Load struct {
	Calls   int64   // commands, those inside scripts included, those that keep up a connection not
	Scripts int64   // EVAL and EVALSHA
	CPU     float64 // seconds
}

// Since returns what was done after before was read.
func (l Load) Since(before Load) Load {
	return Load{l.Calls - before.Calls, l.Scripts - before.Scripts, l.CPU - before.CPU}
}

// upkeep is what clients send when they connect, and to stay connected.
var upkeep = map[string]bool{"hello": true, "auth": true, "client": true, "select": true, "ping": true}

// At reads the load of a server.
func At(ctx context.Context, client rueidis.Client) (l Load, err error) {
	text, err := client.Do(ctx, client.B().Info().Section("commandstats", "cpu").Build()).ToString()
	if err != nil {
		return l, fmt.Errorf("look: %w", err)
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		command, isCommand := strings.CutPrefix(key, "cmdstat_")
		switch {
		case isCommand: // cmdstat_evalsha:calls=3,usec=12,...
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			n, err := strconv.ParseInt(calls, 10, 64)
			if err != nil {
				return l, fmt.Errorf("look: %q: %w", line, err)
			}
			if family, _, _ := strings.Cut(command, "|"); !upkeep[family] {
				l.Calls += n
			}
			if strings.HasPrefix(command, "eval") {
				l.Scripts += n
			}
		case key == "used_cpu_user" || key == "used_cpu_sys":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return l, fmt.Errorf("look: %q: %w", line, err)
			}
			l.CPU += seconds
		}
	}
	return l, nil
}

// Clients are the connections of a server, and the subscriptions of all of them.
type Clients struct{ Connections, Subscriptions int }

// Connected counts the clients of a server.
func Connected(ctx context.Context, client rueidis.Client) (c Clients, err error) {
	text, err := client.Do(ctx, client.B().ClientList().Build()).ToString()
	if err != nil {
		return c, fmt.Errorf("look: %w", err)
	}
	for line := range strings.Lines(text) {
		c.Connections++
		for property := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(property, "=")
			if name != "sub" && name != "ssub" {
				continue
			}
			n, err := strconv.Atoi(value)
			if err != nil {
				return c, fmt.Errorf("look: %q: %w", property, err)
			}
			c.Subscriptions += n
		}
	}
	return c, nil
}
