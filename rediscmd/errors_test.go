package rediscmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/rueidis"
)

func TestClassifyErrorReplies(t *testing.T) {
	for _, test := range []struct {
		text  string
		code  string
		want  Outcome
		state bool
	}{
		{"WRONGTYPE Operation against a key holding the wrong kind of value script: ab, on @user_script:1.", "WRONGTYPE", OutcomeFailed, false},
		{"NOPERM this user has no permissions to access one of the keys used as arguments", "NOPERM", OutcomeFailed, false},
		{"The user executing the script can't run this command or subcommand script: ab, on @user_script:1.", "ERR", OutcomeFailed, false},
		{"CROSSSLOT Keys in request don't hash to the same slot", "CROSSSLOT", OutcomeFailed, false},
		{"NOAUTH Authentication required.", "NOAUTH", OutcomeFailed, false},
		{"WRONGPASS invalid username-password pair or user is disabled.", "WRONGPASS", OutcomeFailed, false},
		{"OOM command not allowed when used memory > 'maxmemory'. script: ab, on @user_script:1.", "OOM", OutcomeFailed, true},
		{"@user_script: 25: -READONLY You can't write against a read only replica.", "READONLY", OutcomeRetryable, true},
		{"@user_script: 25: -OOM command not allowed when used memory > 'maxmemory'.", "OOM", OutcomeFailed, true},
		{"@user_script: 7: -WRONGTYPE Operation against a key holding the wrong kind of value", "WRONGTYPE", OutcomeFailed, false},
		{"unknown command 'EVALSHA'", "ERR", OutcomeFailed, false},
		{"LOADING Redis is loading the dataset in memory", "LOADING", OutcomeRetryable, true},
		{"READONLY You can't write against a read only replica. script: ab, on @user_script:1.", "READONLY", OutcomeRetryable, true},
		{"BUSY Redis is busy running a script.", "BUSY", OutcomeRetryable, true},
		{"MASTERDOWN Link with MASTER is down", "MASTERDOWN", OutcomeRetryable, true},
		{"NOREPLICAS Not enough good replicas to write.", "NOREPLICAS", OutcomeRetryable, true},
		{"MISCONF Redis is configured to save RDB snapshots", "MISCONF", OutcomeRetryable, true},
		{"TRYAGAIN Multiple keys request during rehashing of slot", "TRYAGAIN", OutcomeRetryable, true},
		{"CLUSTERDOWN The cluster is down", "CLUSTERDOWN", OutcomeRetryable, true},
		{"max number of clients reached", "ERR", OutcomeRetryable, true},
		// Redis 6, and miniredis.
		{"Error running script (call to f_ab): @user_script:9: -READONLY You can't write against a read only replica.", "READONLY", OutcomeRetryable, true},
		{"Error running script (call to f_ab): @user_script:9: @user_script: 9: -OOM command not allowed", "OOM", OutcomeFailed, true},
		{"Error compiling script (new function): <string>:9: WRONGTYPE Operation against\nstack traceback:\n\tREADONLY", "WRONGTYPE", OutcomeFailed, false},
		{"Error running script (call to f_ab): no code at all", "ERR", OutcomeFailed, false},
		// A code inside other text is not one.
		{"I say: READONLY or not", "ERR", OutcomeFailed, false},
	} {
		t.Run(test.text, func(t *testing.T) {
			redisErr := redisError(t, test.text)
			err := wrapError("acquire", redisErr)
			if got := Classify(err); got != test.want {
				t.Errorf("outcome %v, want %v", got, test.want)
			}
			if got := Classify(fmt.Errorf("wrapped: %w", redisErr)); got != test.want {
				t.Errorf("wrapped: outcome %v, want %v", got, test.want)
			}
			if got := IsServerState(err); got != test.state {
				t.Errorf("server state %v, want %v", got, test.state)
			}
			server, ok := errors.AsType[*ServerError](err)
			if !ok || server.ErrorType() != test.code {
				t.Errorf("%T %v, want type %s", err, err, test.code)
			}
			first, _, _ := strings.Cut(test.text, "\n")
			if err.Error() != "redis: acquire: "+first {
				t.Errorf("text %q", err)
			}
		})
	}
}

// redisError makes an error reply as rueidis reads it off the wire.
func redisError(t *testing.T, text string) *rueidis.RedisError {
	t.Helper()
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		buf := make([]byte, 4096)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			// One error reply per command of the batch.
			for range strings.Count(string(buf[:n]), "*") {
				reply := fmt.Sprintf("!%d\r\n%s\r\n", len(text), text)
				if _, err := io.WriteString(server, reply); err != nil {
					return
				}
			}
		}
	}()
	_, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"pipe"}, ForceSingleClient: true, DisableCache: true, DisableRetry: true,
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) { return client, nil },
	})
	redisErr, ok := errors.AsType[*rueidis.RedisError](err)
	if !ok {
		t.Fatalf("rueidis says %v", err)
	}
	return redisErr
}

func TestClassifyOtherErrors(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, test := range []struct {
		err  error
		want Outcome
		kind string
	}{
		{dial, OutcomeRetryable, "dial"},
		{fmt.Errorf("wrapped: %w", dial), OutcomeRetryable, "dial"},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, OutcomeRetryable, "dial"},
		{&net.DNSError{Err: "no such host"}, OutcomeRetryable, "dial"},
		{&tls.CertificateVerificationError{Err: errors.New("x509")}, OutcomeRetryable, "dial"},
		{rueidis.ErrNoSlot, OutcomeRetryable, "dial"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, OutcomeUnknown, "connection"},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, OutcomeUnknown, "connection"},
		{io.EOF, OutcomeUnknown, "connection"},
		{rueidis.ErrClosing, OutcomeUnknown, "connection"},
		{context.DeadlineExceeded, OutcomeUnknown, "timeout"},
		{os.ErrDeadlineExceeded, OutcomeUnknown, "timeout"},
		{&decodeError{"x"}, OutcomeUnknown, "decode"},
		{ErrClosed, OutcomeFailed, "closed"},
		{&ArgError{"lease", "0s"}, OutcomeFailed, "invalid"},
		{&NameError{"", "empty"}, OutcomeFailed, "invalid"},
	} {
		t.Run(fmt.Sprint(test.err), func(t *testing.T) {
			if got := Classify(test.err); got != test.want {
				t.Errorf("outcome %v, want %v", got, test.want)
			}
			call, ok := wrapError("acquire", test.err).(*CallError)
			if !ok || call.ErrorType() != test.kind || !errors.Is(call, test.err) {
				t.Errorf("wrapped as %v of type %q, want %q", call, call.ErrorType(), test.kind)
			}
		})
	}
	if Classify(nil) != OutcomeDone {
		t.Error("no error is not done")
	}
}
