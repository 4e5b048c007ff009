package perform

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// guard is two numbers in a file that all processes of a trial have mapped.
type guard struct {
	memory []byte
	number *atomic.Uint64 // how often it was passed
	last   *atomic.Uint64 // by whom
}

const guardSize = 16

// newGuard makes one of this process alone.
func newGuard() *guard { return &guard{number: new(atomic.Uint64), last: new(atomic.Uint64)} }

// openGuard maps the file of that name.
func openGuard(name string) (*guard, error) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	memory, err := syscall.Mmap(int(file.Fd()), 0, guardSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return &guard{
		memory: memory,
		number: (*atomic.Uint64)(unsafe.Pointer(&memory[0])),
		last:   (*atomic.Uint64)(unsafe.Pointer(&memory[guardSize/2])),
	}, nil
}

func (g *guard) close() error {
	if g.memory == nil {
		return nil
	}
	return syscall.Munmap(g.memory)
}

// pass counts in two steps. Two callers inside at once lose a count; each step
// is atomic only so that the other processes, and the race detector, see it. It
// says whether the one before was somebody else.
func (g *guard) pass(who uint64) (changed bool) {
	n := g.number.Load()
	changed = g.last.Load() != who
	g.last.Store(who)
	g.number.Store(n + 1)
	return changed
}

// section is what a lock protects, for as long as the trial lasts.
type section struct {
	guard   *guard
	passed  atomic.Int64
	changed atomic.Int64

	open   sync.RWMutex // written to once, at the end: those inside do not exclude each other
	closed bool
}

// enter passes the guard unless the trial is over.
func (s *section) enter(who uint64) {
	s.open.RLock()
	defer s.open.RUnlock()
	if !s.closed {
		s.passed.Add(1)
		if s.guard.pass(who) {
			s.changed.Add(1)
		}
	}
}

// leave ends the trial with cancel while nobody is inside, and says how many were.
// Some systems give the lock away as soon as the caller's ctx ends, so that a
// caller who was inside then could meet the next one without anybody's fault.
func (s *section) leave(cancel func()) int64 {
	s.open.Lock()
	defer s.open.Unlock()
	s.closed = true
	cancel()
	return s.passed.Load()
}
