package actors

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Owner says who holds a lock: the hash field "uuid:number" that Redisson
// writes, where uuid is the runtime (a RedissonClient in Java) and number is
// unique inside it (a thread id in Java). Owners are comparable values; the
// zero Owner is nobody.
//
// Two calls with the same Owner re-enter one lock, two calls with different
// Owners exclude each other. Goroutines play no part in it.
type Owner struct{ field string }

// String returns the wire form, "uuid:number".
func (o Owner) String() string { return o.field }

// IsZero reports whether o is nobody.
func (o Owner) IsZero() bool { return o.field == "" }

// Runtime returns the uuid part: the ID of the runtime (or RedissonClient) that
// the owner belongs to.
func (o Owner) Runtime() string {
	i := strings.LastIndexByte(o.field, ':')
	return o.field[:max(i, 0)]
}

// ParseOwner reads the wire form "uuid:number", as found in a lock's hash.
// The number may be any 64-bit integer, as in Java.
func ParseOwner(s string) (Owner, error) {
	id, number, ok := strings.Cut(s, ":")
	if !ok || len(id) != 36 {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q is not uuid:number", s)
	}
	if _, err := uuid.Parse(id); err != nil {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q: %w", s, err)
	}
	if _, err := strconv.ParseInt(number, 10, 64); err != nil {
		return Owner{}, fmt.Errorf("holdfast: owner %.80q: %w", s, err)
	}
	return Owner{s}, nil
}

// newOwner is the wire form of one runtime's number; it costs one allocation.
func newOwner(runtime string, number uint64) Owner {
	buf := make([]byte, 0, 64)
	buf = append(buf, runtime...)
	buf = append(buf, ':')
	buf = strconv.AppendUint(buf, number&math.MaxInt64, 10)
	return Owner{string(buf)}
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
