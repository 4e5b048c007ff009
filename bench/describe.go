package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/bench/conduct"
	"github.com/holdfast-go/holdfast/bench/report"
	"github.com/holdfast-go/holdfast/bench/wire"
)

// modules are where the Go systems come from.
var modules = map[string]string{
	"github.com/redis/rueidis":         wire.Rueidislock,
	"github.com/go-redsync/redsync/v4": wire.Redsync,
	"github.com/bsm/redislock":         wire.Redislock,
	"github.com/redis/go-redis/v9":     "go-redis",
}

// describe says what is measured, where, and how to do it again.
func describe(s settings, args []string, c *conduct.Conductor) *report.Results {
	r := &report.Results{
		Command: strings.Join(append([]string{"go run ."}, args...), " "),
		Started: time.Now().UTC().Format(time.RFC3339),
		Short:   s.scale.Short,
		Rounds:  s.rounds,
		Seconds: s.scale.Seconds,
		Knobs:   s.knobs,
		Machine: machine(),
		Versions: map[string]string{
			"go": runtime.Version(), "redis": c.Server.Version, wire.Holdfast: "this repository",
		},
	}
	if v := c.Fleet.Version(wire.Redisson); v != "" {
		r.Versions[wire.Redisson] = v
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if name, ok := modules[m.Path]; ok {
				r.Versions[name] = m.Version
			}
		}
	}
	return r
}

func machine() report.Machine {
	return report.Machine{
		CPU:    field("/proc/cpuinfo", "model name"),
		Cores:  runtime.NumCPU(),
		Kernel: field("/proc/sys/kernel/osrelease", ""),
		Arch:   runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// field returns the value of the first "name : value" line of a file, or its first
// line if there is no name. What cannot be read is left open.
func field(file, name string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name == "" {
			return strings.TrimSpace(line)
		}
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
