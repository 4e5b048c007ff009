package look

import (
	"testing"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

func TestAt(t *testing.T) {
	s := redistest.Start(t)
	redis := s.Client(t)
	s.MustDo("PING") // connects
	before, err := At(t.Context(), redis)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.MustDo("EVAL", "redis.call('set', KEYS[1], 1); return redis.call('get', KEYS[1])", "1", "key")
	}
	after, err := At(t.Context(), redis)
	if err != nil {
		t.Fatal(err)
	}
	const ours = 1 // the look before
	if l := after.Since(before); l.Scripts != 3 || l.Calls != 3*3+ours || l.CPU < 0 {
		t.Errorf("three scripts of two commands: %+v", l)
	}
}

func TestConnected(t *testing.T) {
	s := redistest.Start(t)
	redis := s.Client(t)
	other, cancel := s.Client(t).Dedicate()
	defer cancel()
	for _, command := range []string{"a", "b", "c"} {
		if err := other.Do(t.Context(), other.B().Subscribe().Channel(command).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Connected(t.Context(), redis)
	if err != nil {
		t.Fatal(err)
	}
	if c.Subscriptions != 3 || c.Connections < 2 {
		t.Errorf("three subscriptions and two clients: %+v", c)
	}
}
