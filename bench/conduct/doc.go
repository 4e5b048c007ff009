// Package conduct runs the plan: it starts a redis-server, lets performers do one
// trial after the other, reads the server's counters around each, and turns
// what they say into figures.
//
// All trials of a row run once, then all of them again: what else the machine
// does meanwhile then hits every system alike. Every Go performer is a process of
// one trial, so that CPU time, allocations and heap are that system's own. A
// performer that must warm up for long, which a JVM must, may be kept.
package conduct
