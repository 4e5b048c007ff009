// Package perform is the performer's side: a process that does one job at a time
// for one system, and says what it cost.
//
// A work sets up and warms up, calls start, which tells the conductor that it is
// ready and returns when the conductor says go, then runs and returns a
// Sample. Everything that only one work needs is in the file of its name.
package perform
