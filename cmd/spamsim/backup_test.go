package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store"
)

// TestBackupInterrupted: where no daemon runs an interrupt ends a backup too, the one of before keeps its name, and nothing
// else is left.
func TestBackupInterrupted(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "spamsim.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(before, []byte("of before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if octets, err := backup(ctx, &control.Local{Store: s}, before); !errors.Is(err, context.Canceled) {
		t.Errorf("%d octets, %v", octets, err)
	}
	text, err := os.ReadFile(before)
	left, globErr := filepath.Glob(before + "*")
	if err != nil || globErr != nil || string(text) != "of before" || len(left) != 1 {
		t.Errorf("%.20q, %v; there are %q, %v", text, err, left, globErr)
	}
}
