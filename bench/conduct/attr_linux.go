package conduct

import "syscall"

// attributes make a child end with this process, however that ends: a server or
// a performer left behind would take the next run's CPU.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
