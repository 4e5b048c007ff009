package rediscmd

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/rueidis"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// The contract of the scripts, run against a real server (the authority) and
// miniredis (which the bubble tests of other rooms rely on).

// stage is one Redis to run the contract on.
type stage struct {
	caller
	c  *Client
	do func(args ...string) rueidis.RedisResult
}

func (s stage) hash(key string) map[string]string {
	s.tb.Helper()
	m, err := s.do("HGETALL", key).AsStrMap()
	if err != nil {
		s.tb.Fatal(err)
	}
	return m
}

func (s stage) pttl(key string) int64 {
	s.tb.Helper()
	n, err := s.do("PTTL", key).AsInt64()
	if err != nil {
		s.tb.Fatal(err)
	}
	return n
}

func (s stage) must(args ...string) {
	s.tb.Helper()
	if err := s.do(args...).Error(); err != nil {
		s.tb.Fatal(err)
	}
}

// wantHash checks the whole content of a lock and that its lease is in (0, lease].
func (s stage) wantHash(key string, lease time.Duration, want map[string]string) {
	s.tb.Helper()
	if got := s.hash(key); fmt.Sprint(got) != fmt.Sprint(want) {
		s.tb.Errorf("hash %v, want %v", got, want)
	}
	ms := s.pttl(key)
	switch {
	case len(want) == 0 && ms != -2:
		s.tb.Errorf("PTTL %d, want no key", ms)
	case len(want) > 0 && (ms <= 0 || ms > lease.Milliseconds()):
		s.tb.Errorf("PTTL %d, want in (0, %d]", ms, lease.Milliseconds())
	}
}

func (s stage) want(r Reply, v Verdict) {
	s.tb.Helper()
	if r.Outcome != OutcomeDone || r.Err != nil || r.Verdict != v || r.SentAt.IsZero() {
		s.tb.Errorf("reply %+v, want verdict %v", r, v)
	}
}

// wantForeign checks that a key of another type is a definite no.
func (s stage) wantForeign(r Reply) {
	s.tb.Helper()
	var typed interface{ ErrorType() string }
	typed, _ = r.Err.(interface{ ErrorType() string })
	if r.Outcome != OutcomeFailed || typed == nil || typed.ErrorType() != "WRONGTYPE" {
		s.tb.Errorf("reply %+v, want failed with WRONGTYPE", r)
	}
}

const lease = 30 * time.Second

var contract = []struct {
	name string
	run  func(s stage)
}{
	{"acquire a free lock", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.wantHash("k", lease, map[string]string{"a:1": "1"})
	}},
	{"acquire again settles a lost reply", func(s stage) {
		for range 3 {
			s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		}
		s.wantHash("k", lease, map[string]string{"a:1": "1"})
	}},
	{"acquire sets the lease anew, even a shorter one", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: time.Second, Level: 2}), Granted)
		s.wantHash("k", time.Second, map[string]string{"a:1": "2"})
	}},
	{"acquire a held lock", func(s stage) {
		s.must("HSET", "k", "b:7", "3")
		s.must("PEXPIRE", "k", "20000")
		r := s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1})
		s.want(r, Held)
		if r.TTL <= 0 || r.TTL > 20*time.Second || r.Owner != "" {
			s.tb.Errorf("reply %+v", r)
		}
		r = s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1, WantHolder: true})
		s.want(r, Held)
		if r.TTL <= 0 || r.TTL > 20*time.Second || r.Owner != "b:7" || r.Count != 3 {
			s.tb.Errorf("reply %+v", r)
		}
		s.wantHash("k", 20*time.Second, map[string]string{"b:7": "3"})
	}},
	{"acquire a lock without TTL", func(s stage) {
		s.must("HSET", "k", "b:7", "1")
		for _, want := range []bool{false, true} {
			r := s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1, WantHolder: want})
			s.want(r, Held)
			if r.TTL != NoTTL {
				s.tb.Errorf("TTL %v, want NoTTL", r.TTL)
			}
		}
	}},
	{"re-enter", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 2}), Granted)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 2}), Granted)
		s.wantHash("k", lease, map[string]string{"a:1": "2"})
	}},
	{"re-enter what is gone", func(s stage) {
		for _, want := range []bool{false, true} {
			r := s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 2, WantHolder: want})
			s.want(r, Absent)
			if r.TTL != 0 {
				s.tb.Errorf("TTL %v", r.TTL)
			}
		}
		s.wantHash("k", 0, nil)
	}},
	{"re-enter what somebody else has", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"b", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 2}), Held)
		s.wantHash("k", lease, map[string]string{"b:1": "1"})
	}},
	{"acquire a foreign key", func(s stage) {
		s.must("SET", "k", "text")
		for level := int64(1); level <= 2; level++ {
			s.wantForeign(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: level}))
		}
		if v, err := s.do("GET", "k").ToString(); v != "text" || err != nil {
			s.tb.Errorf("foreign key is now %q, %v", v, err)
		}
	}},
	{"binary names and owners", func(s stage) {
		name, owner := "a b\x00\xff\n{x}y", Owner{"\xfe:\x00", -1 << 63}
		s.want(s.acquire(AcquireArgs{Name: name, Owner: owner, Lease: lease, Level: 1}), Granted)
		r := s.inspect(name)
		s.want(r, Held)
		if r.Owner != owner.String() {
			s.tb.Errorf("owner %q", r.Owner)
		}
		s.want(s.release(ReleaseArgs{Name: name, Owner: owner}), Released)
	}},
	{"lease is rounded up", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: 9999*time.Millisecond + 1, Level: 1}), Granted)
		s.wantHash("k", 10*time.Second, map[string]string{"a:1": "1"})
	}},
	{"longest lease", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: MaxLease, Level: 1}), Granted)
		s.wantHash("k", MaxLease, map[string]string{"a:1": "1"})
	}},
	{"release", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}), Released)
		s.wantHash("k", 0, nil)
		s.want(s.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}), Absent)
	}},
	{"release somebody else's", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"b", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}), Absent)
		s.want(s.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1, Lease: lease}), Absent)
		s.wantHash("k", lease, map[string]string{"b:1": "1"})
	}},
	{"lower", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 2}), Granted)
		for range 2 {
			s.want(s.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}, Level: 1, Lease: 5 * time.Second}), Lowered)
		}
		s.wantHash("k", 5*time.Second, map[string]string{"a:1": "1"})
	}},
	{"release a foreign key", func(s stage) {
		s.must("SET", "k", "text")
		s.wantForeign(s.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 1}}))
		s.must("GET", "k")
	}},
	{"hand off", func(s stage) {
		s.must("HSET", "k", "a:1", "2")
		s.must("PEXPIRE", "k", "1000")
		for range 2 { // the second finds it done
			s.want(s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease}), HandedOver)
		}
		s.wantHash("k", lease, map[string]string{"a:2": "1"})
	}},
	{"hand off what is gone", func(s stage) {
		r := s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease})
		s.want(r, Absent)
		if r.TTL != 0 {
			s.tb.Errorf("TTL %v", r.TTL)
		}
		s.wantHash("k", 0, nil)
	}},
	{"hand off what somebody else has", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"b", 1}, Lease: lease, Level: 1}), Granted)
		for _, yield := range []YieldMode{YieldNever, YieldIfOthersListen, YieldAlways} {
			r := s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: yield})
			s.want(r, Absent)
			if r.TTL <= 0 || r.TTL > lease {
				s.tb.Errorf("TTL %v", r.TTL)
			}
		}
		s.wantHash("k", lease, map[string]string{"b:1": "1"})
	}},
	{"yield always", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldAlways}), Yielded)
		s.wantHash("k", 0, nil)
	}},
	{"yield when others listen: nobody does", func(s stage) {
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldIfOthersListen}), HandedOver)
	}},
	{"yield when others listen: only we do, then another", func(s stage) {
		ch := s.d.Channel("k")
		ours := newEar()
		sub := s.c.Subscriber().Subscribe(ch, ours)
		defer sub.Close()
		ours.waitFor(s.tb, subscribedEvent, 1)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease, Yield: YieldIfOthersListen}), HandedOver)

		other := newClient(s.tb, Config{Client: s.c.cfg.Client})
		theirs := newEar()
		defer other.Subscriber().Subscribe(ch, theirs).Close()
		theirs.waitFor(s.tb, subscribedEvent, 1)
		yielded := s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 2}, To: Owner{"a", 3}, Lease: lease, Yield: YieldIfOthersListen})
		s.want(yielded, Yielded)
		if yielded.Listeners != 1 {
			s.tb.Errorf("%d others listen, want 1", yielded.Listeners)
		}
		theirs.waitFor(s.tb, "message 0", 1)
		ours.waitFor(s.tb, "message 0", 1)
		r := s.inspect("k")
		s.want(r, Absent)
		if r.Listeners != 2 {
			s.tb.Errorf("listeners %d, want 2", r.Listeners)
		}
	}},
	{"hand off a foreign key", func(s stage) {
		s.must("SET", "k", "text")
		s.wantForeign(s.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease}))
	}},
	{"force", func(s stage) {
		s.want(s.force("k"), Absent)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"b", 1}, Lease: lease, Level: 1}), Granted)
		s.want(s.force("k"), Released)
		s.wantHash("k", 0, nil)
	}},
	{"check", func(s stage) {
		s.want(s.check("k", Owner{"a", 1}), Absent)
		s.must("HSET", "k", "a:1", "4")
		r := s.check("k", Owner{"a", 1})
		s.want(r, Held)
		if r.Count != 4 || r.TTL != NoTTL {
			s.tb.Errorf("reply %+v", r)
		}
		s.must("PEXPIRE", "k", "5000")
		r = s.check("k", Owner{"b", 1})
		s.want(r, Absent)
		if r.Count != 0 || r.TTL <= 0 || r.TTL > 5*time.Second {
			s.tb.Errorf("reply %+v", r)
		}
		s.must("HSET", "k", "a:1", "many")
		if r := s.check("k", Owner{"a", 1}); r.Outcome != OutcomeUnknown || r.Err == nil || r.Verdict != NoVerdict {
			s.tb.Errorf("reply %+v, want one that does not decode", r)
		}
		s.must("SET", "s", "text")
		s.wantForeign(s.check("s", Owner{"a", 1}))
	}},
	{"inspect", func(s stage) {
		r := s.inspect("k")
		s.want(r, Absent)
		if r.Owner != "" || r.Listeners != 0 || r.TTL != 0 {
			s.tb.Errorf("reply %+v", r)
		}
		s.must("HSET", "k", "b:9", "2")
		s.must("PEXPIRE", "k", "5000")
		r = s.inspect("k")
		s.want(r, Held)
		if r.Owner != "b:9" || r.Count != 2 || r.TTL <= 0 || r.TTL > 5*time.Second {
			s.tb.Errorf("reply %+v", r)
		}
		s.must("SET", "s", "text")
		s.wantForeign(s.inspect("s"))
	}},
	{"extend", func(s stage) {
		s.want(s.extend(ExtendArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease}), Absent)
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: time.Second, Level: 1}), Granted)
		s.want(s.extend(ExtendArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease}), Renewed)
		if ms := s.pttl("k"); ms <= 1000 || ms > lease.Milliseconds() {
			s.tb.Errorf("PTTL %d", ms)
		}
		s.want(s.extend(ExtendArgs{Name: "k", Owner: Owner{"b", 1}, Lease: lease}), Absent)
	}},
	{"renew", func(s stage) {
		s.must("HSET", "mine", "a:1", "1")
		s.must("HSET", "theirs", "b:1", "1")
		s.must("PEXPIRE", "theirs", "5000")
		s.must("SET", "text", "text")
		items := []*Renewal{
			{Name: "theirs", Owner: "a:1", Held: true},
			{Name: "text", Owner: "a:1", Held: true},
			{Name: "gone", Owner: "a:1", Held: true},
			{Name: "mine", Owner: "a:1"},
		}
		calls := s.renew(items)
		if len(calls) != 1 {
			s.tb.Fatalf("%d scripts, want 1", len(calls))
		}
		s.want(calls[0].reply, Renewed)
		for i, want := range []bool{false, false, false, true} {
			if items[i].Held != want {
				s.tb.Errorf("%s: held %v", items[i].Name, items[i].Held)
			}
		}
		if calls[0].reply.Count != 1 {
			s.tb.Errorf("count %d", calls[0].reply.Count)
		}
		s.wantHash("mine", lease, map[string]string{"a:1": "1"})
		s.wantHash("theirs", 5*time.Second, map[string]string{"b:1": "1"})
	}},
	{"renew and extend never shorten", func(s stage) {
		long := 10 * lease
		s.want(s.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: long, Level: 1}), Granted)
		items := []*Renewal{{Name: "k", Owner: "a:1"}}
		s.renew(items)
		if !items[0].Held {
			s.tb.Error("not held")
		}
		s.want(s.extend(ExtendArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease}), Renewed)
		if ms := s.pttl("k"); ms <= lease.Milliseconds() {
			s.tb.Errorf("PTTL %d after a shorter renewal, want about %v", ms, long)
		}
	}},
	{"renew in scripts of at most 256", func(s stage) {
		var items []*Renewal
		for i := range 300 {
			name := fmt.Sprintf("r%d", i)
			s.must("HSET", name, "a:1", "1")
			items = append(items, &Renewal{Name: name, Owner: "a:1", Value: i})
		}
		var sizes []int
		for _, call := range s.renew(items) {
			s.want(call.reply, Renewed)
			sizes = append(sizes, len(call.items))
		}
		total := 0
		for _, n := range sizes {
			if n > maxRenew {
				s.tb.Errorf("script of %d", n)
			}
			total += n
		}
		if len(sizes) != 2 || total != 300 {
			s.tb.Errorf("scripts of %v", sizes)
		}
		for i, item := range items {
			ms := s.pttl(item.Name)
			if !item.Held || item.Value != i || ms <= 0 || ms > lease.Milliseconds() {
				s.tb.Errorf("%+v has PTTL %d", item, ms)
			}
		}
	}},
}

func TestContractOnARealServer(t *testing.T) {
	for _, protocol := range []struct {
		name string
		mods []func(*rueidis.ClientOption)
	}{{"RESP3", nil}, {"RESP2", []func(*rueidis.ClientOption){resp2}}} {
		t.Run(protocol.name, func(t *testing.T) {
			srv := redistest.Start(t)
			client := srv.Client(t, protocol.mods...)
			for _, test := range contract {
				t.Run(test.name, func(t *testing.T) {
					srv.MustDo("FLUSHALL")
					c := newClient(t, Config{Client: client})
					test.run(stage{caller{t, c.Mutex()}, c, srv.Do})
				})
			}
		})
	}
}

func TestContractInTheBubble(t *testing.T) {
	for _, test := range contract {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := redistest.NewBubble(t)
				client := b.Client(t)
				c := newClient(t, Config{Client: client})
				do := func(args ...string) rueidis.RedisResult {
					return client.Do(t.Context(), client.B().Arbitrary(args[0]).Args(args[1:]...).Build())
				}
				test.run(stage{caller{t, c.Mutex()}, c, do})
			})
		})
	}
}
