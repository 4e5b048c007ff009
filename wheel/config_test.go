package wheel

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestConfig(t *testing.T) {
	handler := func([]*Entry[int]) {}
	for _, tt := range []struct {
		name string
		cfg  Config[int]
		want string // part of the error; empty: it is fine
	}{
		{"defaults", Config[int]{Handler: handler}, ""},
		{"no handler", Config[int]{}, "Handler"},
		{"smallest slot", Config[int]{Handler: handler, Granularity: 4 * ms}, ""},
		{"slot too small", Config[int]{Handler: handler, Granularity: 4*ms - 1}, "Granularity"},
		{"negative slot", Config[int]{Handler: handler, Granularity: -1}, "Granularity"},
		{"shortest ring", Config[int]{Handler: handler, Granularity: 10 * ms, Horizon: 40 * ms}, ""},
		{"ring too short", Config[int]{Handler: handler, Granularity: 10 * ms, Horizon: 40*ms - 1}, "Horizon"},
		{"negative ring", Config[int]{Handler: handler, Horizon: -time.Second}, "Horizon"},
		{"ring too long", Config[int]{Handler: handler, Granularity: 4 * ms, Horizon: 2 * time.Hour}, "Horizon"},
		{"longest durations", Config[int]{Handler: handler, Granularity: math.MaxInt64, Horizon: math.MaxInt64}, "Horizon"},
		{"slot longer than the default ring", Config[int]{Handler: handler, Granularity: time.Hour}, ""},
		{"base in the past", Config[int]{Handler: handler, Base: time.Now().Add(-time.Hour)}, ""},
		{"base in the future", Config[int]{Handler: handler, Base: time.Now().Add(time.Hour)}, "future"},
		{"base without monotonic reading", Config[int]{Handler: handler, Base: time.Now().Round(0)}, "monotonic"},
		{"base from the calendar", Config[int]{Handler: handler, Base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, "monotonic"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.cfg.withDefaults().validate()
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v does not name %q", err, tt.want)
			}
		})
	}
	if w, err := New(Config[int]{}); w != nil || err == nil {
		t.Errorf("New = %v, %v for an unusable Config", w, err)
	}
}
