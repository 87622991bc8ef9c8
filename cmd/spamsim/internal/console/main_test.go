package console

import (
	"os"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestMain fails where a test leaves a goroutine behind.
func TestMain(m *testing.M) { os.Exit(lab.Leakless{M: m}.Run()) }
