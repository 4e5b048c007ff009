package wheel

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	defaultGranularity = 100 * time.Millisecond
	defaultHorizon     = 64 * time.Second

	// minGranularity leaves the library a tick of two whole milliseconds: its clock counts milliseconds.
	minGranularity = 4 * time.Millisecond
	// minSlots keeps a heartbeat (a quarter of the horizon) at one slot or more, which is the library's minimum of
	// two ticks.
	minSlots = 4
	// maxSlots bounds the memory of a mistyped Config: about 32 MB of slots, and four times that in the library.
	maxSlots = 1 << 20
)

// Config says how a [Wheel] is built. Only Handler is required.
type Config[T any] struct {
	// Granularity is the width of a slot, and how late a coarse entry may be. Default 100 ms, at least 4 ms.
	Granularity time.Duration

	// Horizon is the length of the ring. Default 64 s, or 4 slots when that is longer; at least 4 slots, at most
	// 2^20. A longer delay is legal: it is carried over once per turn.
	Horizon time.Duration

	// Base is the zero of the wheel's clock. It must not lie in the future, and needs a monotonic reading (what
	// time.Now returns has one, except inside a synctest bubble). Default: time.Now() in New.
	Base time.Time

	// Handler gets everything that is due, in batches of 1 to 256. Calls never overlap. The entries are already
	// detached: they may be scheduled again from inside. The slice is the wheel's and valid only during the call. Handler
	// must not block, since every other entry waits for it, and must not call Stop, which waits for Handler.
	Handler func(due []*Entry[T])

	// Lag is told once per fired slot that held entries how late it fired: real minus planned time. Optional. It is
	// called just before the batch, never at the same time as Handler, and must not block.
	Lag func(time.Duration)

	// Panic is told of a panic in Handler or Lag, with the stack of its origin. The panic never stops the wheel, and the
	// entries of that batch count as handed over. Default: slog.Error.
	Panic func(value any, stack []byte)
}

// withDefaults fills in what was left out.
func (c Config[T]) withDefaults() Config[T] {
	if c.Granularity == 0 {
		c.Granularity = defaultGranularity
	}
	if c.Horizon == 0 {
		c.Horizon = defaultHorizon
		if c.Granularity > defaultHorizon/minSlots {
			c.Horizon = minSlots * c.Granularity
		}
	}
	if c.Base.IsZero() {
		c.Base = time.Now()
	}
	if c.Panic == nil {
		c.Panic = logPanic
	}
	return c
}

// validate names the field that is wrong. It expects defaults to be filled in.
func (c Config[T]) validate() error {
	switch {
	case c.Handler == nil:
		return errors.New("wheel: Config.Handler is required")
	case c.Granularity < minGranularity:
		return fmt.Errorf("wheel: Config.Granularity must be at least %v, got %v", minGranularity, c.Granularity)
	case c.Horizon/minSlots < c.Granularity:
		return fmt.Errorf("wheel: Config.Horizon must be at least %d slots of %v, got %v", minSlots, c.Granularity, c.Horizon)
	case c.Horizon/c.Granularity > maxSlots:
		return fmt.Errorf("wheel: Config.Horizon must be at most %d slots of %v, got %v", maxSlots, c.Granularity, c.Horizon)
	case !monotonic(c.Base) && monotonic(time.Now()): // in a synctest bubble no time has one, and the wall clock is steady
		return errors.New("wheel: Config.Base has no monotonic clock reading")
	case time.Since(c.Base) < 0:
		return errors.New("wheel: Config.Base lies in the future")
	}
	return nil
}

// monotonic says whether t has a monotonic clock reading: Round(0) strips it, and == sees that.
func monotonic(t time.Time) bool { return t != t.Round(0) }

func logPanic(value any, stack []byte) {
	slog.Error("wheel: panic in a callback", "panic", value, "stack", string(stack))
}
