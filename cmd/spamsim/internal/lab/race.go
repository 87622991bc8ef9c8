//go:build race

package lab

// Race tells whether the tests run under the race detector, where a daemon takes ten times as long to start.
const Race = true
