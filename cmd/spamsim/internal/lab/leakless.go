package lab

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Leakless runs tests and fails where they leave a goroutine behind. What ends with a process or a connection may take a while,
// longer than goleak itself waits.
type Leakless struct{ *testing.M }

// Run runs the tests and returns the exit status.
func (m Leakless) Run() int {
	status := m.M.Run()
	var left error
	for end := time.Now().Add(Patience); status == 0 && time.Now().Before(end); {
		if left = goleak.Find(); left == nil {
			return 0
		}
	}
	if left != nil {
		fmt.Fprintln(os.Stderr, left)
		return 1
	}
	return status
}
