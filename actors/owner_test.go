package actors

import (
	"math"
	"testing"
	"unique"
)

const someRuntime = "0e7b3a52-6f5c-4a1d-9b7e-3c2d1a0f9e8d"

// An owner is made into text and read again all the time; what would come back as
// another text is not an owner of ours to compare with.
func TestOwnersReadBackAsTheyWereWritten(t *testing.T) {
	runtime := unique.Make(someRuntime)
	for _, n := range []uint64{0, 1, 10, math.MaxInt64, math.MaxUint64} {
		o := newOwner(runtime, n)
		back, err := ParseOwner(o.String())
		if err != nil || back != o || back.Runtime() != someRuntime {
			t.Errorf("%v was read as %v, %v", o, back, err)
		}
	}
	for _, s := range []string{":+7", ":007", ":-0", ":00", ": 7", ":7 "} {
		if o, err := ParseOwner(someRuntime + s); err == nil {
			t.Errorf("%q was read as %v", s, o)
		}
	}
	least := someRuntime + ":-9223372036854775808"
	if o, err := ParseOwner(least); err != nil || o.String() != least {
		t.Errorf("%q was read as %v, %v", least, o, err)
	}
	if o, err := ParseOwner("0E7B3A52-6F5C-4A1D-9B7E-3C2D1A0F9E8D:1"); err != nil || o.String() != "0E7B3A52-6F5C-4A1D-9B7E-3C2D1A0F9E8D:1" {
		t.Errorf("capital letters were read as %v, %v", o, err)
	}
	if (Owner{}).String() != "" || (Owner{}).Runtime() != "" {
		t.Error("nobody has a name")
	}
}
