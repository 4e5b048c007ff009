//go:build race

package rediscmd

const raceEnabled = true
