package wheel

import "time"

const (
	// guardEvery is how often overdue slots are looked for, and the longest pause between two heartbeats.
	guardEvery = time.Second
	// stallGrace is what a slot may be overdue before the library counts as stalled; its entries are then overdue by up to
	// one granularity more. It is far above what a busy machine needs to start a goroutine.
	stallGrace = 500 * time.Millisecond
)

// starved is how long the library's goroutines may wait for a processor before its clock is too stale for the first level. A
// timer that does move between its levels can hang the library's Stop: seen with 58 ms of room under a full load.
const starved = 10 * time.Second

// geometry is the arithmetic of a wheel: pure, fixed at New. Times are durations since the wheel's base.
type geometry struct {
	gran  time.Duration // width of a slot
	ahead int64         // farthest slot that may be used, counted from the current one
	slots int64         // length of the ring

	tick  time.Duration // the library's tick: whole milliseconds, at most half a slot
	ticks int64         // buckets on the library's first level
	beat  time.Duration // pause between two looks of the guard
	pulse time.Duration // delay of a heartbeat timer
}

func newGeometry(gran, horizon time.Duration) geometry {
	g := geometry{gran: gran, beat: min(guardEvery, horizon/4)}
	g.ahead = int64((horizon + gran - 1) / gran)
	// A slot is free again when the next turn wants it, even if the guard had to fire it.
	g.slots = g.ahead + int64((g.beat+stallGrace)/gran) + 4

	// At most half a slot: each slot then has a bucket of its own in the library.
	g.tick = (gran / 2).Truncate(time.Millisecond)
	g.pulse = max(g.beat, g.shortest())
	// The first level must outlast the longest delay plus the staleness of the library's clock, so that nothing cascades.
	g.ticks = int64((time.Duration(g.ahead)*gran+2*(g.beat+g.pulse)+starved)/g.tick) + 4
	return g
}

// shortest is the shortest delay that the library may be given.
func (g *geometry) shortest() time.Duration { return 2 * g.tick }

// delay is what to ask of the library for a slot that is due in wait; ok is false when that is too little for it. It aims a
// millisecond ahead: the library sleeps whole milliseconds and so oversleeps by a part of one.
func (g *geometry) delay(wait time.Duration) (d time.Duration, ok bool) {
	d = wait - time.Millisecond
	return d, d >= g.shortest()
}

// lead is how far ahead the library may wake a slot without having lied: it rounds down to milliseconds, then to ticks.
func (g *geometry) lead() time.Duration { return g.tick + 2*time.Millisecond }

// at is the planned time of a slot.
func (g *geometry) at(number int64) time.Duration { return time.Duration(number) * g.gran }

// slotFor says which slot should wake an entry. In ring is false when no slot can do it in time: the entry is due, or it
// is exact and near. The slot's time is always after now.
//
// A coarse entry takes the first slot at or after its time, so that the slot's time is never too early. An exact one takes the
// last slot at or before it and goes to the near heap from there. Both are cut off at the end of the ring; the entry is then
// looked at again when that slot fires.
func (g *geometry) slotFor(due time.Duration, exact bool, now time.Duration) (number int64, inRing bool) {
	number = int64(due / g.gran)
	switch {
	case exact && g.at(number) < now+2*g.gran:
		return 0, false
	case !exact && due <= now:
		return 0, false
	case !exact && due%g.gran != 0:
		number++
	}
	return min(number, int64(now/g.gran)+g.ahead), true
}

// overdue is the last slot that counts as stalled at now, or -1.
func (g *geometry) overdue(now time.Duration) int64 {
	late := now - stallGrace
	if late <= 0 {
		return -1
	}
	return int64((late - 1) / g.gran) // "more than": a slot that is exactly as late as allowed is left alone
}
