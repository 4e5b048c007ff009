package conduct

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// counters are what the server has done so far.
type counters struct {
	calls map[string]int64 // by command, subcommands as in "client|setinfo"
	cpu   float64          // seconds
}

// info reads sections of INFO.
func (s *Server) info(ctx context.Context, sections ...string) (map[string]string, error) {
	text, err := s.client.Do(ctx, s.client.B().Info().Section(sections...).Build()).ToString()
	if err != nil {
		return nil, fmt.Errorf("info: %w", err)
	}
	info := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[key] = value
		}
	}
	return info, nil
}

func (s *Server) counters(ctx context.Context) (counters, error) {
	info, err := s.info(ctx, "commandstats", "cpu")
	if err != nil {
		return counters{}, err
	}
	c := counters{calls: map[string]int64{}}
	for key, value := range info {
		switch {
		case key == "used_cpu_user", key == "used_cpu_sys":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return c, fmt.Errorf("info: %s: %w", key, err)
			}
			c.cpu += seconds
		case strings.HasPrefix(key, "cmdstat_"):
			calls, _, _ := strings.Cut(strings.TrimPrefix(value, "calls="), ",")
			n, err := strconv.ParseInt(calls, 10, 64)
			if err != nil {
				return c, fmt.Errorf("info: %s: %w", key, err)
			}
			c.calls[strings.TrimPrefix(key, "cmdstat_")] = n
		}
	}
	return c, nil
}

// The conductor's own commands do not count.
var ours = map[string]bool{"info": true, "flushall": true, "scan": true, "dbsize": true, "pubsub": true, "config": true}

// Commands that no script of any system calls: clients sent them.
var sent = map[string]bool{
	"eval": true, "evalsha": true, "eval_ro": true, "evalsha_ro": true, "script": true,
	"subscribe": true, "unsubscribe": true, "ssubscribe": true, "sunsubscribe": true,
	"psubscribe": true, "punsubscribe": true, "ping": true, "hello": true, "client": true,
	"auth": true, "select": true, "wait": true, "cluster": true, "command": true,
}

// alsoSent are commands that a system's client sends and its scripts do not call.
// (Redisson sends a DEL after each unlock, and its script calls one: which is which
// cannot be seen, so its figure for commands sent is short by one.)
var alsoSent = map[string]map[string]bool{
	wire.Redsync:      {"set": true},
	wire.RedsyncPiped: {"set": true},
}

// load is what the server did in one trial.
type load struct {
	calls    int64 // every command, those inside scripts included
	commands int64 // those that clients sent
	scripts  int64
	cpu      float64
}

// since is the load since an earlier reading, for a system.
func (c counters) since(before counters, system string) load {
	l := load{cpu: c.cpu - before.cpu}
	for name, n := range c.calls {
		n -= before.calls[name]
		family, _, _ := strings.Cut(name, "|")
		if n == 0 || ours[family] {
			continue
		}
		l.calls += n
		if sent[family] || alsoSent[system][family] {
			l.commands += n
		}
		if strings.HasPrefix(family, "eval") {
			l.scripts += n
		}
	}
	return l
}
