//go:build !linux

package conduct

import "syscall"

// attributes are none here: only Linux can tie a child to its parent's life.
func attributes() *syscall.SysProcAttr { return nil }
