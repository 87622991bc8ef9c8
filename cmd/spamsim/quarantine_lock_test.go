package main

import (
	"io"
	"testing"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/cmd/spamsim/internal/quarantine"
)

// TestHeldByOne: while somebody releases or deletes a message nobody else does, so that it goes on once.
func TestHeldByOne(t *testing.T) {
	conf, e := held(t, lab.StartSink(t, lab.SinkConfig{}), "b@site.example")
	a := &app{stdout: io.Discard, stderr: io.Discard, env: testEnv(t), configFile: conf.File}
	done := 0
	touch := func() error {
		return a.eachHeld([]string{e.Name}, func(*config.Loaded, *quarantine.Entry) error { done++; return nil })
	}
	unlock, err := e.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := touch(); err == nil || done > 0 {
		t.Errorf("%v, and it was touched %d times while another had it", err, done)
	}
	unlock()
	if err := touch(); err != nil || done != 1 {
		t.Errorf("%v, touched %d times afterwards", err, done)
	}
}
