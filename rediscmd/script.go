package rediscmd

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// script is a Lua file with the door back: decode reads its reply into op.Reply,
// whose Outcome is already OutcomeDone, and says what is wrong with it.
type script struct {
	name   string
	text   string
	sha    string
	decode func(op *Op, m *rueidis.RedisMessage) error
}

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts lists every script, to be loaded into each server.
var scripts []*script

func newScript(name string, decode func(op *Op, m *rueidis.RedisMessage) error) *script {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // the file is part of the binary
	}
	sum := sha1.Sum(text)
	s := &script{name: name, text: string(text), sha: hex.EncodeToString(sum[:]), decode: decode}
	scripts = append(scripts, s)
	return s
}

// unexpected describes a reply that no version of the script gives.
func unexpected(m *rueidis.RedisMessage) error {
	got := fmt.Sprintf("%.100q", m.String())
	return &decodeError{got}
}

// fields reads a reply that must be a list of n.
func fields(m *rueidis.RedisMessage, n int) ([]rueidis.RedisMessage, error) {
	list, err := m.ToArray()
	if err != nil || len(list) != n {
		return nil, unexpected(m)
	}
	return list, nil
}

// integer reads an integer reply.
func integer(m *rueidis.RedisMessage) (int64, error) {
	n, err := m.ToInt64()
	if err != nil {
		return 0, unexpected(m)
	}
	return n, nil
}

// holdCount reads a field's text. What is no number was not written by a lock.
func holdCount(m *rueidis.RedisMessage) (int64, error) {
	text, err := m.ToString()
	if err != nil {
		return 0, unexpected(m)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, unexpected(m)
	}
	return n, nil
}

// remainingTTL turns a PTTL into a duration, NoTTL, or 0 for a missing key.
func remainingTTL(ms int64) time.Duration {
	switch {
	case ms == -1:
		return NoTTL
	case ms < 0:
		return 0
	default:
		return time.Duration(ms) * time.Millisecond
	}
}
