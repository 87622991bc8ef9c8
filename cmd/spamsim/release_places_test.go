package main

import (
	"path/filepath"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestReleaseWantsNoFolder: a message is released where there is no folder for temporary files, and where the name of one is so
// long that no socket in it could be named (108 octets, unix(7)).
func TestReleaseWantsNoFolder(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	conf, e := held(t, sink, "b@site.example")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("long/", 30)))
	if err := release(t, conf, &e); err != nil {
		t.Fatal(err)
	}
	if sink.Wait(t, 2); left(t, conf, e.Name) != nil {
		t.Error("still in the quarantine")
	}
}
