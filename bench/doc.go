// Command bench measures holdfast and its peers side by side, on one redis-server,
// in one run, and holds the figures against the targets of the project.
//
//	bench [flags]      the conductor: runs everything, prints the table, writes results.json and charts
//	bench perform      a performer, which the conductor starts
//
// The rows and their targets are in package plan, the works in package perform,
// the systems in package peer (and java/, for Redisson). docs/bench says how to
// read the results, and what they do not show.
package main
