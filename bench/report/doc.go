// Package report shows results: as a table, as JSON, and as charts.
package report
