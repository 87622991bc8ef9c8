package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/lab"
)

// A fakeManager hears what a service tells its manager.
type fakeManager struct {
	t    *testing.T
	conn *net.UnixConn
	path string
}

func newManager(t *testing.T) *fakeManager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &fakeManager{t, conn, path}
}

// hear returns the first line of the next datagram.
func (m *fakeManager) hear() string {
	m.t.Helper()
	b := make([]byte, 300)
	if err := m.conn.SetReadDeadline(time.Now().Add(lab.Patience)); err != nil {
		m.t.Fatal(err)
	}
	n, err := m.conn.Read(b)
	if err != nil {
		m.t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	return line
}

// next is the next thing heard that is no sign of life.
func (m *fakeManager) next() string {
	m.t.Helper()
	for {
		if line := m.hear(); line != "WATCHDOG=1" {
			return line
		}
	}
}

// env is the environment that it gives to a service of process 7.
func (m *fakeManager) env(name string) string {
	return map[string]string{"NOTIFY_SOCKET": m.path, "WATCHDOG_USEC": "200000", "WATCHDOG_PID": "7"}[name]
}

// TestServeTellsTheManager: of the start, of life, of each reload, good or bad, and of the end.
func TestServeTellsTheManager(t *testing.T) {
	m := newManager(t)
	conf := testConfig(t, "[bulk]\ncount = 7\n")
	h := &host{getenv: m.env, pid: 7, reload: make(chan os.Signal, 1)}
	reads := 0
	h.read = func() (*config.Loaded, error) {
		if reads++; reads == 1 {
			return nil, errors.New("bad")
		}
		return conf, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error)
	go func() { served <- serve(ctx, h, conf, io.Discard) }()
	expect := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if got := m.next(); got != w {
				t.Fatalf("told %q, want %q", got, w)
			}
		}
	}
	expect("READY=1")
	for range 3 {
		if got := m.hear(); got != "WATCHDOG=1" {
			t.Errorf("told %q, want a sign of life", got)
		}
	}
	for range 2 {
		h.reload <- syscall.SIGHUP
		expect("RELOADING=1", "READY=1")
	}
	cancel()
	expect("STOPPING=1")
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestServeWithoutManager: one that is gone does not keep mail from being taken.
func TestServeWithoutManager(t *testing.T) {
	conf := testConfig(t, "")
	gone := map[string]string{"NOTIFY_SOCKET": filepath.Join(t.TempDir(), "none"), "WATCHDOG_USEC": "20000"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := serve(ctx, &host{getenv: func(name string) string { return gone[name] }, reload: make(chan os.Signal, 1)}, conf, io.Discard); err != nil {
		t.Error(err)
	}
}
