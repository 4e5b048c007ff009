package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Go is what starts the measured part of a job.
type Go struct {
	Go bool `json:"go"`
}

// Reply is what a performer says: that it is ready, that it failed, or a Sample.
type Reply struct {
	Ready bool   `json:"ready,omitempty"`
	Error string `json:"error,omitempty"`
	*Sample
}

// Conn is one end of the conversation. It is for one goroutine.
type Conn struct {
	in  *bufio.Reader
	out *json.Encoder
}

// NewConn speaks over a pair of streams.
func NewConn(in io.Reader, out io.Writer) *Conn {
	return &Conn{in: bufio.NewReaderSize(in, 1<<16), out: json.NewEncoder(out)}
}

// Send writes one line.
func (c *Conn) Send(v any) error {
	if err := c.out.Encode(v); err != nil {
		return fmt.Errorf("send %T: %w", v, err)
	}
	return nil
}

// Receive reads one line into v. At the end of the stream it returns io.EOF.
func (c *Conn) Receive(v any) error {
	line, err := c.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("receive %T: %w", v, err)
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("receive %T: %w in %.200q", v, err, line)
	}
	return nil
}
