// Package wire is what the conductor and its performers say to each other: one
// JSON object per line, over the standard input and output of the performer.
//
//	conductor                          performer
//	    | ------------ Job ---------------> |   sets up and warms up
//	    | <-------- {"ready":true} -------- |   nothing is running now
//	    |   (reads the server's counters)   |
//	    | -------- {"go":true} -----------> |   runs
//	    | <---------- Sample -------------- |   or {"error":"..."} at any step
//	    |   (reads the counters again)      |
//
// A performer does one job after the other and ends when its input is closed. It
// may be written in any language. Standard error is passed through to the user.
package wire
