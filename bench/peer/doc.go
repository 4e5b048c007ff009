// Package peer builds each system under test the way its users would at their
// best, one file each. Every knob that matters for speed was swept on the
// two-core machine that the results in docs/bench come from; what was tried is
// written where the value is.
package peer
