//go:build race

package actors

// The race detector makes everything several times slower.
const raceEnabled = true
