package wheel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// model says when each entry must fire, in bubble time: to the nanosecond, since nothing but the driver is late there.
type model struct {
	mu      sync.Mutex // held for each step and in Handler
	wheel   *Wheel[int]
	gran    time.Duration
	entries []Entry[int]
	due     map[int]time.Duration // instant at which a scheduled entry must fire
	again   map[int]time.Duration // delay after which Handler schedules it once more
	log     []string
	wrong   string
}

// schedule does it on the wheel and in the model.
func (m *model) schedule(id int, delay time.Duration, exact bool) {
	now := m.wheel.Now()
	at := now + delay
	if err := m.wheel.schedule(&m.entries[id], at, exact); err != nil {
		m.fail("schedule: %v", err)
	}
	switch {
	case at <= now:
		at = now
	case !exact:
		at = (at + m.gran - 1) / m.gran * m.gran
	}
	m.due[id] = at
	m.log = append(m.log, fmt.Sprintf("%v: schedule %d in %v, exact %v, to fire at %v", now, id, delay, exact, at))
}

func (m *model) cancel(id int) {
	_, want := m.due[id]
	if got := m.wheel.Cancel(&m.entries[id]); got != want {
		m.fail("cancel %d = %v, want %v", id, got, want)
	}
	delete(m.due, id)
	m.log = append(m.log, fmt.Sprintf("%v: cancel %d", m.wheel.Now(), id))
}

func (m *model) handle(due []*Entry[int]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.wheel.Now()
	for _, e := range due {
		want, ok := m.due[e.Value]
		if !ok || want != now {
			m.fail("%v: entry %d fired; scheduled: %v, for %v", now, e.Value, ok, want)
		}
		delete(m.due, e.Value)
		if delay, ok := m.again[e.Value]; ok {
			delete(m.again, e.Value)
			m.schedule(e.Value, delay, delay%2 == 0)
		}
	}
}

// check is called when all that is due has happened.
func (m *model) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.wheel.Now()
	for id, at := range m.due {
		if at < now {
			m.fail("%v: entry %d, to fire at %v, did not", now, id, at)
		}
	}
	if got := m.wheel.Len(); got != len(m.due) {
		m.fail("%v: Len = %d, want %d", now, got, len(m.due))
	}
}

func (m *model) fail(format string, args ...any) {
	if m.wrong == "" {
		m.wrong = fmt.Sprintf(format, args...)
	}
}

func (m *model) step(what byte, id int, delay time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch what {
	case 0, 1:
		m.schedule(id, delay, false)
	case 2, 3:
		m.schedule(id, delay, true)
	case 4:
		m.cancel(id)
	case 5:
		m.again[id] = delay
	}
}

// run plays a script of bytes, three to a step, against a wheel of one of several shapes.
func (m *model) run(t *testing.T, script []byte) {
	if len(script) == 0 {
		return
	}
	shape := script[0]
	cfg := Config[int]{
		Granularity: []time.Duration{4 * ms, 7300 * time.Microsecond, 20 * ms, 100 * ms}[shape&3],
		Handler:     m.handle,
	}
	cfg.Horizon = []time.Duration{minSlots, 9, 50, 640}[shape>>2&3] * cfg.Granularity
	drivers := []func(geometry) driver{newLibrary, firesAtOnce, firesTwice, firesForTwo}
	w, err := newWheel(cfg, drivers[shape>>4&3])
	must(t, err)
	m.wheel, m.gran = w, cfg.Granularity
	m.entries = make([]Entry[int], 16)
	for i := range m.entries {
		m.entries[i].Value = i
	}
	m.due, m.again = make(map[int]time.Duration), make(map[int]time.Duration)

	for s := script[1:]; len(s) >= 3 && m.wrong == ""; s = s[3:] {
		id := int(s[1]) % len(m.entries)
		// From a little in the past to a good many turns of the shorter rings, nanoseconds included.
		delay := time.Duration(int(s[2])-10) * cfg.Granularity / 8 * time.Duration(1+s[1]>>4)
		delay += time.Duration(s[0] >> 3)
		m.step(s[0]&7, id, delay)
		switch s[0] & 7 {
		case 6:
			nap(max(0, delay))
		case 7:
			nap(time.Duration(s[2]) * ms / 4)
		}
		settle()
		m.check()
	}
	left := len(m.due)
	if pending := w.Stop(context.Background()); len(pending) != left {
		m.fail("Stop returned %d entries, want %d", len(pending), left)
	}
	if m.wrong != "" {
		t.Errorf("%s\n%v over %v, driver %d", m.wrong, cfg.Granularity, cfg.Horizon, shape>>4&3)
		for _, line := range m.log {
			t.Log(line)
		}
	}
}

func TestModel(t *testing.T) {
	for seed := range uint64(256) { // every shape four times
		rng := rand.New(rand.NewPCG(seed, 5))
		script := make([]byte, 1+3*80)
		for i := range script {
			script[i] = byte(rng.UintN(256))
		}
		script[0] = byte(seed)
		synctest.Test(t, func(t *testing.T) { new(model).run(t, script) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{0x03, 0x00, 0x01, 0x40, 0x06, 0x00, 0x80})
	f.Add([]byte{0x1e, 0x02, 0xf2, 0xff, 0x05, 0x02, 0x20, 0x06, 0x00, 0xff, 0x04, 0x02, 0x00})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 1+3*200 {
			t.Skip("longer only takes longer")
		}
		synctest.Test(t, func(t *testing.T) { new(model).run(t, script) })
	})
}
