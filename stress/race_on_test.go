//go:build race

package stress

// The race detector allocates on its own, and sync.Pool drops items at random
// under it.
const raceEnabled = true
