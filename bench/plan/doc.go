// Package plan is what is measured, as data: the rows W1 to W9, the trials of
// each, and the targets that their figures are held against.
//
// A target is a small function of one round. All systems of a round ran within
// the same minute, so a ratio of two of its figures says more than the ratio of
// two medians; the median of these ratios is what counts.
package plan
