package actors

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unique"

	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast/rediscmd"
)

// Owner says who holds a lock: the hash field "uuid:number" that Redisson
// writes, where uuid is the runtime (a RedissonClient in Java) and number is
// unique inside it (a thread id in Java). Owners are comparable values; the
// zero Owner is nobody.
//
// Two calls with the same Owner re-enter one lock, two calls with different
// Owners exclude each other. Goroutines play no part in it.
type Owner struct {
	runtime unique.Handle[string] // two words for an owner, where its text would be five
	number  int64
}

// String returns the wire form, "uuid:number".
func (o Owner) String() string {
	if o.IsZero() {
		return ""
	}
	return o.field().String()
}

// field is the owner as a script is told.
func (o Owner) field() rediscmd.Owner {
	if o.IsZero() {
		return rediscmd.Owner{}
	}
	return rediscmd.Owner{Runtime: o.runtime.Value(), Number: o.number}
}

// uuidText is the length of a uuid's text.
const uuidText = 36

// IsZero reports whether o is nobody.
func (o Owner) IsZero() bool { return o == Owner{} }

// Runtime returns the uuid part: the ID of the runtime (or RedissonClient) that
// the owner belongs to.
func (o Owner) Runtime() string {
	if o.IsZero() {
		return ""
	}
	return o.runtime.Value()
}

// ParseOwner reads the wire form "uuid:number", as found in a lock's hash.
// The number may be any 64-bit integer, as in Java, written as Java writes it:
// what has a plus sign or leading zeros is somebody else's field.
func ParseOwner(s string) (Owner, error) {
	id, number, ok := strings.Cut(s, ":")
	if !ok || len(id) != uuidText {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q is not uuid:number", s)
	}
	if _, err := uuid.Parse(id); err != nil {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q: %w", s, err)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q: %w", s, err)
	}
	if strconv.FormatInt(n, 10) != number {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q: its number would be written %d", s, n)
	}
	return Owner{unique.Make(id), n}, nil
}

// newOwner is one runtime's number as an owner; numbers are never negative.
func newOwner(runtime unique.Handle[string], number uint64) Owner {
	return Owner{runtime, int64(number & math.MaxInt64)}
}

type ownerKey struct{}

// ContextWithOwner returns a ctx under which every acquire is made by owner, so
// that nested acquires of one name re-enter instead of waiting for each other.
// A Hold's own context carries its owner already.
func ContextWithOwner(ctx context.Context, owner Owner) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// ContextWithoutOwner hides the owner that ctx carries. A context leaks into the
// goroutines that it is handed to, and with it the right to re-enter: hand a
// goroutine that must exclude its parent ContextWithoutOwner(ctx).
func ContextWithoutOwner(ctx context.Context) context.Context {
	if OwnerFrom(ctx).IsZero() {
		return ctx
	}
	return context.WithValue(ctx, ownerKey{}, Owner{})
}

// OwnerFrom returns the owner that ctx carries, or the zero Owner.
func OwnerFrom(ctx context.Context) Owner {
	o, _ := ctx.Value(ownerKey{}).(Owner)
	return o
}
