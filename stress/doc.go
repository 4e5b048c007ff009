// Package stress holds the tests of the whole library under load, at scale and
// over time. It has no code of its own: every test drives the public door of
// package holdfast as a program would.
//
//	waiters_test.go    20 000 waiting futures: no goroutine each, granted in order
//	cancel_test.go     hundreds of requests given up in flight: no key is left
//	storm_test.go      many workers of four runtimes on one name: never two inside
//	processes_test.go  the same with four processes (this test binary, started again)
//	outage_test.go     a server that freezes under load; commands given up are left alone
//	hours_test.go      renewals, expiry and polling in a synctest bubble: hours in milliseconds
//	alloc_test.go      what a lock and unlock may allocate
//	budget_*_test.go   commands per hand-over and renewal, bytes per lock and waiter, allocations
//	bench_test.go      many locks in flight, and one at a time, with the CPU each costs
//
// A storm lasts ten seconds, two with -short. Mutual exclusion is checked by
// what it is for: a counter in Redis that every critical section reads, and
// writes back one higher, without any fence. Each pair of sections that overlap
// loses a step, so that the sum at the end tells.
package stress
