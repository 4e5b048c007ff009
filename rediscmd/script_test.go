package rediscmd

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// header is what the comment on top of a script declares.
type header struct {
	keys, args int  // highest index
	many       bool // KEYS[1..n]
	returns    bool
}

var declaration = regexp.MustCompile(`^-- (KEYS|ARGV)\[(\d+)(\.\.\d*n)?\] \S`)

func parseHeader(t *testing.T, text string) header {
	t.Helper()
	var h header
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "--") {
			break
		}
		h.returns = h.returns || strings.HasPrefix(line, "-- Returns ")
		m := declaration.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		count := &h.keys
		if m[1] == "ARGV" {
			count = &h.args
		}
		if n != *count+1 {
			t.Errorf("%s[%d] follows %d", m[1], n, *count)
		}
		*count = n
		h.many = h.many || m[3] != ""
	}
	return h
}

// captured counts the keys and arguments that a door sends, without sending them.
func captured(t *testing.T, door func(d Mutex, op *Op)) (keys, args int) {
	t.Helper()
	srv := redistest.Start(t)
	c := &Client{cfg: Config{Client: srv.Client(t)}.withDefaults(), publish: "PUBLISH"}
	c.lanes = newLanes(c)
	c.subscriber = newSubscriber(c)
	c.lanes.only.workers = 1 // at home, where nobody is
	op := new(Op)
	door(c.Mutex(), op)
	if op.Reply.Err != nil {
		t.Fatal(op.Reply.Err)
	}
	w := worker{lane: c.lanes.only, ops: []*Op{op}}
	w.plan()
	w.command(&w.runs[0])
	return len(w.keys), len(w.args)
}

func TestHeadersDeclareWhatIsSent(t *testing.T) {
	doors := map[string]func(d Mutex, op *Op){
		"acquire": func(d Mutex, op *Op) {
			d.Acquire(op, nil, AcquireArgs{Name: "n", Owner: Owner{"o", 1}, Lease: lease, Level: 1})
		},
		"release": func(d Mutex, op *Op) { d.Release(op, nil, ReleaseArgs{Name: "n", Owner: Owner{"o", 1}}) },
		"handoff": func(d Mutex, op *Op) {
			d.HandOff(op, nil, HandOffArgs{Name: "n", From: Owner{"o", 1}, To: Owner{"p", 1}, Lease: lease, Yield: YieldIfOthersListen})
		},
		"force":   func(d Mutex, op *Op) { d.Force(op, nil, "n") },
		"check":   func(d Mutex, op *Op) { d.Check(op, nil, "n", Owner{"o", 1}) },
		"inspect": func(d Mutex, op *Op) { d.Inspect(op, nil, "n") },
		"renew":   func(d Mutex, op *Op) { d.Extend(op, nil, ExtendArgs{Name: "n", Owner: Owner{"o", 1}, Lease: lease}) },
	}
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			h := parseHeader(t, luaFile(s.name))
			if !h.returns {
				t.Error("the header does not say what the script returns")
			}
			door := doors[s.name]
			if door == nil {
				t.Fatal("no door in this test")
			}
			keys, args := captured(t, door)
			if h.many != s.many || h.keys != keys || h.args != args {
				t.Errorf("header %+v, the door sends %d keys and %d arguments", h, keys, args)
			}
			text := luaFile(s.name)
			if body := text[strings.Index(text, "\n\n"):]; strings.Contains(body, "KEYS["+strconv.Itoa(h.keys+1)+"]") ||
				strings.Contains(body, "ARGV["+strconv.Itoa(h.args+1)+"]") {
				t.Error("the script reads more than its header declares")
			}
		})
	}
}

func TestHashesAreTheServers(t *testing.T) {
	srv := redistest.Start(t)
	for _, s := range scripts {
		sha, err := srv.MustDo("SCRIPT", "LOAD", s.text).ToString()
		if err != nil || sha != s.sha {
			t.Errorf("%s: server says %s (%v), we say %s", s.name, sha, err, s.sha)
		}
	}
}

func TestNewLoadsEveryScript(t *testing.T) {
	srv, _, _ := realServer(t)
	args := []string{"SCRIPT", "EXISTS"}
	for _, s := range scripts {
		args = append(args, s.sha)
	}
	known, err := srv.MustDo(args...).AsIntSlice()
	if err != nil || len(known) == 0 || slices.Contains(known, 0) {
		t.Errorf("SCRIPT EXISTS: %v, %v", known, err)
	}
}

func TestForgottenScriptsAreSentAgain(t *testing.T) {
	srv, _, c := realServer(t)
	flush := func() { srv.MustDo("SCRIPT", "FLUSH") }
	flush()
	if r := c.acquire(AcquireArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease, Level: 1}); r.Verdict != Granted || r.SentAt.IsZero() {
		t.Errorf("acquire: %+v", r)
	}
	flush()
	if r := c.check("k", Owner{"a", 1}); r.Verdict != Held || r.Count != 1 {
		t.Errorf("check: %+v", r)
	}
	flush()
	if r := c.inspect("k"); r.Verdict != Held {
		t.Errorf("inspect: %+v", r)
	}
	flush()
	if calls := c.renew([]*Renewal{{Name: "k", Owner: "a:1"}}); !calls[0].items[0].Held {
		t.Errorf("renew: %+v", calls[0].reply)
	}
	flush()
	if r := c.extend(ExtendArgs{Name: "k", Owner: Owner{"a", 1}, Lease: lease}); r.Verdict != Renewed {
		t.Errorf("extend: %+v", r)
	}
	flush()
	if r := c.handOff(HandOffArgs{Name: "k", From: Owner{"a", 1}, To: Owner{"a", 2}, Lease: lease}); r.Verdict != HandedOver {
		t.Errorf("hand off: %+v", r)
	}
	flush()
	if r := c.release(ReleaseArgs{Name: "k", Owner: Owner{"a", 2}}); r.Verdict != Released {
		t.Errorf("release: %+v", r)
	}
	flush()
	if r := c.force("k"); r.Verdict != Absent {
		t.Errorf("force: %+v", r)
	}
}
