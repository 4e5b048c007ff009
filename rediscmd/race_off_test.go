//go:build !race

package rediscmd

const raceEnabled = false
