// Package redistest gives tests a Redis: a real server of their own (Start), one in
// memory inside a synctest bubble (NewBubble), and a proxy that loses, holds and
// cuts (NewProxy). It is for tests only, and safe for concurrent use.
//
// The real server is the authority on what a script does; the bubble is the
// authority on time: hours of lease pass in milliseconds, and nothing happens
// between two instants that the test did not cause.
package redistest
