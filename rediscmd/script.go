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

// script is a Lua file with its two doors: args writes an op's arguments, decode
// reads its reply into op.Reply, whose Outcome is already OutcomeDone, and says what
// is wrong with it.
type script struct {
	name   string
	args   func(c *Client, op *Op, args []string) []string
	decode func(op *Op, m *rueidis.RedisMessage) error
	// many: one run may be about several ops with equal terms. Their names are its
	// keys, and their owners follow the arguments. It answers with a list, or with
	// one value that goes for all.
	many bool
	// urgent: it keeps or ends leases, and goes before those that do not.
	urgent bool

	text string
	sha  string
}

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts lists every script, to be loaded into each server.
var scripts []*script

// newScript adds the Lua file of that name, with what scripts share before it.
func newScript(s script) *script {
	s.text = luaFile("channel") + luaFile(s.name)
	sum := sha1.Sum([]byte(s.text))
	s.sha = hex.EncodeToString(sum[:])
	scripts = append(scripts, &s)
	return &s
}

func luaFile(name string) string {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // the file is part of the binary
	}
	return string(text)
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
