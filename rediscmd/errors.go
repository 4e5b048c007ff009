package rediscmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/redis/rueidis"
)

// Outcome says what is known about a script after its reply, or the lack of one.
type Outcome uint8

const (
	// OutcomeDone: the script ran to its end, its verdict counts.
	OutcomeDone Outcome = iota
	// OutcomeFailed: a definite no (WRONGTYPE, NOPERM, CROSSSLOT, OOM, NOAUTH, an
	// argument refused here). The owner of the lock has not changed, and asking
	// again gives the same answer until somebody intervenes.
	OutcomeFailed
	// OutcomeRetryable: nothing ran, and asking again later may work (LOADING,
	// READONLY, BUSY, MASTERDOWN, NOREPLICAS, MISCONF, TRYAGAIN, CLUSTERDOWN, or no
	// connection could be made, so nothing was sent).
	OutcomeRetryable
	// OutcomeUnknown: sent, and the reply was lost (timeout, end of connection) or
	// made no sense. The script may have run, and may even run later.
	OutcomeUnknown
)

// String returns the outcome's name, in lower case.
func (o Outcome) String() string {
	switch o {
	case OutcomeDone:
		return "done"
	case OutcomeFailed:
		return "failed"
	case OutcomeRetryable:
		return "retryable"
	default:
		return "unknown"
	}
}

// ErrClosed is the error of operations submitted after Close, and of those that
// were still queued when Close gave up waiting. None of them was sent.
var ErrClosed = errors.New("rediscmd: client closed")

// ServerError is an error reply, with the server's own text.
type ServerError struct {
	Script string // the script's name
	err    *rueidis.RedisError
}

// Error returns the script's name and the server's text.
func (e *ServerError) Error() string {
	text, _, _ := strings.Cut(e.err.Error(), "\nstack traceback:") // miniredis shows its own stack
	return "redis: " + e.Script + ": " + text
}

// Unwrap returns the *rueidis.RedisError.
func (e *ServerError) Unwrap() error { return e.err }

// ErrorType returns the error's code, WRONGTYPE or READONLY say; ERR if it has none.
func (e *ServerError) ErrorType() string { return errorCode(e.err.Error()) }

// CallError is a script without a usable reply: a connection that could not be
// made or broke, a deadline that passed, a reply that does not decode, or a
// refusal before anything was sent.
type CallError struct {
	Script string // the script's name
	Err    error
}

// Error returns the script's name and the cause.
func (e *CallError) Error() string { return "redis: " + e.Script + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// ErrorType returns timeout, dial, closed, decode, invalid or connection.
func (e *CallError) ErrorType() string {
	var decode *decodeError
	switch {
	case errors.Is(e.Err, ErrClosed):
		return "closed"
	case isInvalid(e.Err):
		return "invalid"
	case errors.As(e.Err, &decode):
		return "decode"
	case neverSent(e.Err):
		return "dial"
	case errors.Is(e.Err, context.DeadlineExceeded), errors.Is(e.Err, os.ErrDeadlineExceeded):
		return "timeout"
	default:
		return "connection"
	}
}

// ArgError is an argument that was refused before anything was sent, because a
// script given it would leave a key that Redis cannot get rid of or that Redisson
// cannot read.
type ArgError struct {
	Arg   string // lease, level or owner
	Value string
}

// Error names the argument and its value.
func (e *ArgError) Error() string { return fmt.Sprintf("invalid %s %s", e.Arg, e.Value) }

type decodeError struct{ got string }

func (e *decodeError) Error() string { return "unexpected reply: " + e.got }

// Classify says what an error of rueidis, of the server or of this package means
// for the script that met it.
func Classify(err error) Outcome {
	if err == nil {
		return OutcomeDone
	}
	if redisErr, ok := asRedisError(err); ok {
		return classifyCode(errorCode(redisErr.Error()), redisErr.Error())
	}
	switch {
	case errors.Is(err, ErrClosed), isInvalid(err):
		return OutcomeFailed
	case neverSent(err):
		return OutcomeRetryable
	default:
		return OutcomeUnknown
	}
}

func classifyCode(code, text string) Outcome {
	switch code {
	case "LOADING", "READONLY", "BUSY", "MASTERDOWN", "NOREPLICAS", "MISCONF",
		"TRYAGAIN", "CLUSTERDOWN", "MOVED", "ASK", "NOSCRIPT":
		return OutcomeRetryable
	}
	if strings.HasPrefix(text, "max number of clients") {
		return OutcomeRetryable // said by the listener, before any command is read
	}
	return OutcomeFailed
}

// IsServerState reports whether err says that the server is in no state to serve
// now (starting, replica, out of memory, cluster down, unreachable), as opposed to
// a fault of the request, the key or the caller's rights.
func IsServerState(err error) bool {
	if redisErr, ok := asRedisError(err); ok && errorCode(redisErr.Error()) == "OOM" {
		return true
	}
	switch Classify(err) {
	case OutcomeRetryable, OutcomeUnknown:
		return true
	default:
		return false
	}
}

func asRedisError(err error) (*rueidis.RedisError, bool) {
	var redisErr *rueidis.RedisError
	ok := errors.As(err, &redisErr)
	return redisErr, ok && !redisErr.IsNil()
}

func isInvalid(err error) bool {
	var name *NameError
	var arg *ArgError
	return errors.As(err, &name) || errors.As(err, &arg)
}

// neverSent recognises errors from before the first byte of a command: no
// connection, no trusted peer, no node for the slot.
func neverSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &dns) || errors.As(err, &cert) || errors.As(err, &record) ||
		errors.Is(err, rueidis.ErrNoSlot) || errors.Is(err, rueidis.ErrNoAddr)
}

// codes are the first words of error replies that mean something to a lock.
var codes = [...]string{
	"WRONGTYPE", "NOPERM", "NOAUTH", "WRONGPASS", "CROSSSLOT", "OOM", "NOSCRIPT",
	"LOADING", "READONLY", "BUSY", "MASTERDOWN", "NOREPLICAS", "MISCONF",
	"TRYAGAIN", "CLUSTERDOWN", "MOVED", "ASK", "EXECABORT", "NOPROTO",
}

// wrappings begin such sentences: of what stopped a script, and of what it met by
// pcall and returned.
var wrappings = [...]string{"Error running script", "Error compiling script", "@user_script: "}

// errorCode finds the code in an error reply. Redis 7 puts it first. Redis 6 and
// miniredis wrap what a script met in a sentence of their own, so there it is
// looked for behind the position that both print.
func errorCode(text string) string {
	if code, ok := leadingCode(text); ok {
		return code
	}
	if !slices.ContainsFunc(wrappings[:], func(w string) bool { return strings.HasPrefix(text, w) }) {
		return "ERR"
	}
	text, _, _ = strings.Cut(text, "\n")
	for {
		_, rest, found := strings.Cut(text, ": ")
		if !found {
			return "ERR"
		}
		text = strings.TrimLeft(rest, "-")
		if code, ok := leadingCode(text); ok {
			return code
		}
	}
}

func leadingCode(text string) (string, bool) {
	word, _, _ := strings.Cut(text, " ")
	for _, code := range codes {
		if word == code {
			return code, true
		}
	}
	return "", false
}

// wrapError gives an error the name of the script that met it.
func wrapError(script string, err error) error {
	if redisErr, ok := err.(*rueidis.RedisError); ok && !redisErr.IsNil() {
		return &ServerError{Script: script, err: redisErr}
	}
	return &CallError{Script: script, Err: err}
}
