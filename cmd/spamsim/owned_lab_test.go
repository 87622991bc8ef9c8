package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestOwnedIsSynced: where the daemon itself keeps mail, in a maildir or in the quarantine, it says 250 only once file and folder
// are on disk. Where the kernel refuses to sync either, nothing of the message is there and the client is to come back; a
// quarantine that fails passes the message on.
func TestOwnedIsSynced(t *testing.T) {
	lab.Need(t, "strace")
	mail, addr := t.TempDir(), lab.FreeAddr(t)
	s := lab.StartSpamsim(t, fmt.Sprintf("mode = \"enforce\"\n[smtp]\nlisten = [%q]\nnext_hop = \"maildir:%s\"\n[bulk]\ncount = 2\n"+
		"[actions]\nbulk = \"quarantine\"\n", addr, mail))
	box := filepath.Dir(s.File()) + "/state/quarantine"
	short := []byte("Subject: x\r\n\r\nx\r\n")
	for _, c := range []struct {
		refused     string // what is not to be synced; a file's folder ends in "/", "" is nothing
		content     []byte
		reply       string
		mails, held int // files in the end
	}{
		{mail + "/tmp/", short, "451 ", 0, 0},
		{mail + "/new", short, "451 ", 0, 0},
		{"", offer(1), "250 ", 1, 0},
		{box + "/tmp/", offer(2), "451 ", 1, 0}, // nor is the maildir's
		{box + "/envelope", offer(3), "250 ", 2, 0},
		{box + "/new", offer(4), "250 ", 3, 0},
		{"", offer(5), "250 2.0.0 Ok: quarantined", 3, 1},
	} {
		end := refuseSync(t, s.Pid(), c.refused)
		if got := lab.Send(t, addr, "a@shop.example", []string{"b@lab.test"}, c.content); !strings.HasPrefix(got, c.reply) {
			t.Errorf("%q cannot be synced: %q, want %q", c.refused, got, c.reply)
		}
		end()
		for folder, want := range map[string]int{mail + "/new": c.mails, mail + "/tmp": 0, box + "/new": c.held, box + "/envelope": c.held, box + "/tmp": 0} {
			if files, err := os.ReadDir(folder); len(files) != want {
				t.Errorf("%q cannot be synced: %d files in %s, %v, want %d", c.refused, len(files), folder, err, want)
			}
		}
	}
}

// refuseSync has the kernel refuse to sync a folder, or all there is where the path is that of a file's folder, until end is
// called, which fails the test unless that was tried.
func refuseSync(t *testing.T, pid int, path string) (end func()) {
	t.Helper()
	if path == "" {
		return func() {}
	}
	log := filepath.Join(t.TempDir(), "log")
	args := []string{"-f", "-y", "-qq", "-o", log, "-p", strconv.Itoa(pid), "-e", "trace=fsync", "-e", "inject=fsync:error=EIO"}
	if !strings.HasSuffix(path, "/") {
		args = append(args, "-P", path)
	}
	strace := exec.Command("strace", args...)
	if err := strace.Start(); err != nil {
		t.Fatal(err)
	}
	lab.Eventually(t, "strace has all threads", func() bool {
		all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		for _, task := range all {
			if text, err := os.ReadFile(task); err != nil || strings.Contains(string(text), "TracerPid:\t0\n") {
				return false
			}
		}
		return true
	})
	return func() {
		t.Helper()
		_ = strace.Process.Signal(syscall.SIGTERM)
		_ = strace.Wait() // it says by its status which signal ended it
		if text, err := os.ReadFile(log); !strings.Contains(string(text), path) || !strings.Contains(string(text), "INJECTED") {
			t.Errorf("%s was not synced: %q, %v", path, text, err)
		}
	}
}
