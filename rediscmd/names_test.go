package rediscmd

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/rediscmd/redistest"
)

// keyNames are the shapes of names in redisson-wire.md 1.1 and reliability.md 6.
var keyNames = []string{
	"plain", "a{b}c", "{b}", "a{b", "a}b", "{}x", "{}", "}{", "{", "}", "a}b{c}", "{a",
	"a{}b", "{}{a}", "{{a}}", "{a}{b}", "a b", "a\nb", "a\x00b", "\xff\xfe", "foo{bar}{zap}",
	"123456789", strings.Repeat("x", MaxNameLen),
}

func TestSlotIsTheServers(t *testing.T) {
	srv := redistest.Start(t, "--cluster-enabled", "yes")
	for _, name := range keyNames {
		for _, key := range []string{name, lockChannel(name), keyWithSuffix(name, "s")} {
			want, err := srv.MustDo("CLUSTER", "KEYSLOT", key).AsInt64()
			if err != nil || int64(slot(key)) != want {
				t.Errorf("slot(%.40q) = %d, server says %d (%v)", key, slot(key), want, err)
			}
		}
	}
	if slot("") != 0 || slot("123456789") != 0x31c3 {
		t.Error("CRC16 reference value")
	}
}

func TestDerivedKeys(t *testing.T) {
	for _, test := range []struct{ name, prefixed, suffixed string }{
		{"n", "p:{n}", "{n}:s"},
		{"a{b}c", "p:a{b}c", "a{b}c:s"},
		{"a{b", "p:a{b", "a{b:s"},
		{"a}b", "p:{a}b}", "{a}b}:s"},
	} {
		if p, s := keyWithPrefix("p", test.name), keyWithSuffix(test.name, "s"); p != test.prefixed || s != test.suffixed {
			t.Errorf("%q: %q %q, want %q %q", test.name, p, s, test.prefixed, test.suffixed)
		}
	}
	if ch := (Mutex{}).Channel("order:42"); ch != "redisson_lock__channel:{order:42}" {
		t.Errorf("channel %q", ch)
	}
}

func TestValidateName(t *testing.T) {
	for _, test := range []struct {
		name            string
		single, cluster bool // allowed
	}{
		{"plain", true, true}, {"a{b}c", true, true}, {"{b}", true, true}, {"{{a}}", true, true}, {"{a}{b}", true, true},
		{"a}b{c}", true, true}, {"a b\n\x00\xff", true, true}, {strings.Repeat("x", MaxNameLen), true, true},
		{"a{b", true, false}, {"a}b", true, false}, {"{}x", true, false}, {"{", true, false}, {"}", true, false},
		{"{}", true, false}, {"}{", true, false}, {"{}{a}", true, false},
		{"", false, false}, {strings.Repeat("x", MaxNameLen+1), false, false},
		{"redisson_lock__channel:{x}", false, false}, {"redisson_unlock_latch:{x}:1", false, false},
		{"redisson_lock_queue:{x}", false, false}, {"redisson_lock_timeout:{x}", false, false},
		{"redisson_lock_token:{x}", false, false}, {"redisson_rwlock:{x}", false, false},
		{"redisson_sc:{x}", false, false}, {"redisson_countdownlatch__channel__{x}", false, false},
		{"redisson_bqs:q", false, false}, {"my_redisson_sc:{x}", true, true},
	} {
		t.Run(strconv.Quote(test.name)[:min(40, len(strconv.Quote(test.name)))], func(t *testing.T) {
			for cluster, want := range map[bool]bool{false: test.single, true: test.cluster} {
				err := ValidateName(test.name, cluster)
				if (err == nil) != want {
					t.Errorf("cluster %v: %v", cluster, err)
				}
				if err == nil {
					continue
				}
				nameErr, ok := errors.AsType[*NameError](err)
				if !ok || nameErr.Name != test.name || nameErr.Reason == "" || len(err.Error()) > 250 {
					t.Errorf("error %#v", err)
				}
			}
		})
	}
}

// FuzzValidateName: a name that passes in cluster mode has everything in one slot.
func FuzzValidateName(f *testing.F) {
	for _, name := range keyNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if ValidateName(name, true) != nil {
			return
		}
		for _, derived := range []string{
			lockChannel(name),
			keyWithPrefix("redisson_unlock_latch", name) + ":0123456789abcdef",
			keyWithSuffix(name, "timeout"),
			keyWithSuffix(name, "uuid:1:rwlock_timeout:1"),
		} {
			if slot(derived) != slot(name) {
				t.Errorf("%q: %q lies in another slot", name, derived)
			}
		}
	})
}
