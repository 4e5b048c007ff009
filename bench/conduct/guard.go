package conduct

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/holdfast-go/holdfast/bench/wire"
)

// guard is the file that the performers of a trial count in while they hold the
// lock; see wire.Job.
type guard struct{ name string }

func newGuard() (*guard, error) {
	file, err := os.CreateTemp("", "holdfast-guard-")
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	_, err = file.Write(make([]byte, 16))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: %w", err), os.Remove(file.Name()))
	}
	return &guard{file.Name()}, nil
}

func (g *guard) remove() error { return os.Remove(g.name) }

// compare returns how many of the passages that the performers claim are not in
// the file; guarded is false if the work has no guard.
func (g *guard) compare(samples []*wire.Sample) (lost float64, guarded bool, err error) {
	claimed := 0.0
	for _, s := range samples {
		n, ok := s.Extra[wire.Guarded]
		claimed, guarded = claimed+n, guarded || ok
	}
	if !guarded {
		return 0, false, nil
	}
	b, err := os.ReadFile(g.name)
	if err != nil || len(b) < 8 {
		return 0, true, fmt.Errorf("guard: %w", errors.Join(err, errors.New("unreadable")))
	}
	return claimed - float64(binary.LittleEndian.Uint64(b)), true, nil
}
