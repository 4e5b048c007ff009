package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/bench/plan"
)

// settings are what the user asked for.
type settings struct {
	rows     []string // empty: all
	systems  []string // empty: all
	rounds   int
	scale    plan.Scale
	out      string
	addr     string
	profiles string
	knobs    map[string]int
}

// Times of a full run and of a short one.
const (
	fullRounds   = 3
	fullSeconds  = 2
	fullWarmup   = 0.5
	shortRounds  = 1
	shortSeconds = 0.3
	shortWarmup  = 0.1
)

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&s.scale.Short, "short", false, "every row, but small, within a minute")
	rows := f.String("rows", "", "only these rows, as in W1,W3")
	systems := f.String("systems", "", "only these systems, as in holdfast,floor")
	f.IntVar(&s.rounds, "rounds", 0, "how often every trial runs; the median counts (default 3, short: 1)")
	f.Float64Var(&s.scale.Seconds, "seconds", 0, "how long a trial is measured (default 2, short: 0.3)")
	f.StringVar(&s.out, "out", "", "the folder for results.json and the charts; none are written without it")
	f.StringVar(&s.addr, "addr", "", "use this redis-server and delete everything in it, instead of starting one")
	f.StringVar(&s.profiles, "cpuprofile", "", "a folder for CPU profiles, one for each performer of each trial")
	knobs := f.String("knobs", "", "change how systems are set up, as in pool=32,readers=2; see the packages peer and perform")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("what is %q?", f.Arg(0))
	}
	s.rows, s.systems = list(*rows), list(*systems)
	s.times()
	var err error
	s.knobs, err = numbers(*knobs)
	return s, errors.Join(err, s.check())
}

// times fills in what the user left open.
func (s *settings) times() {
	rounds, seconds, warmup := fullRounds, float64(fullSeconds), fullWarmup
	if s.scale.Short {
		rounds, seconds, warmup = shortRounds, shortSeconds, shortWarmup
	}
	if s.rounds == 0 {
		s.rounds = rounds
	}
	if s.scale.Seconds == 0 {
		s.scale.Seconds = seconds
	}
	s.scale.Warmup = warmup
}

// check refuses what would silently run nothing.
func (s *settings) check() error {
	if s.rounds < 1 || s.scale.Seconds <= 0 {
		return errors.New("rounds and seconds must be positive")
	}
	var ids, systems []string
	for _, row := range plan.All() {
		ids = append(ids, row.ID)
		for _, t := range row.Trials(s.scale) {
			systems = append(systems, t.System)
		}
	}
	for _, id := range s.rows {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("there is no row %q", id)
		}
	}
	for _, name := range s.systems {
		if !slices.Contains(systems, name) {
			return fmt.Errorf("there is no system %q", name)
		}
	}
	return nil
}

// wants tells whether a row was asked for.
func (s *settings) wants(row plan.Row) bool {
	return len(s.rows) == 0 || slices.Contains(s.rows, row.ID)
}

// wantsTrial tells whether its system was asked for.
func (s *settings) wantsTrial(t plan.Trial) bool {
	return len(s.systems) == 0 || slices.Contains(s.systems, t.System)
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func numbers(s string) (map[string]int, error) {
	m := map[string]int{}
	for _, pair := range list(s) {
		name, value, _ := strings.Cut(pair, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("knob %q: %w", name, err)
		}
		m[name] = n
	}
	return m, nil
}
