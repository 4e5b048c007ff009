//go:build race

package future

// The race detector allocates on its own, and sync.Pool drops items at random under it.
const raceEnabled = true
