package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestStoreIsSyncedBeforeItHasItsName: of a store that is made and of one that is compacted all is on disk before the file gets
// the store's name, and so is the name after that.
func TestStoreIsSyncedBeforeItHasItsName(t *testing.T) {
	lab.Need(t, "strace")
	dir := t.TempDir()
	store, mail := filepath.Join(dir, "spamsim.db"), filepath.Join(dir, "mail")
	if err := os.WriteFile(mail, offer(1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"train", "--store", store, "--spam", mail}, {"compact", "--store", store}} {
		log := filepath.Join(t.TempDir(), "log")
		args := append([]string{"-f", "-y", "-qq", "-o", log, "-e", "trace=/^(pwrite|ftruncate|fdatasync|fsync|rename)", "spamsim"}, command...)
		if out, err := exec.Command("strace", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", command[0], err, out)
		}
		calls, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		wantNamedSynced(t, command[0], string(calls), store)
	}
}

// ofFile is a call for a file that is open, and renamed one that gives a file the name of another.
var (
	ofFile  = regexp.MustCompile(`^\d+ +(\w+)\(\d+<([^>]+)>`)
	renamed = regexp.MustCompile(`^\d+ +rename\w*\(.*"([^"]+)",.*"([^"]+)"`)
)

// wantNamedSynced wants that what strace saw renamed to path was synced since it was written to, and the folder then.
func wantNamedSynced(t *testing.T, command, calls, path string) {
	t.Helper()
	synced, named, kept := map[string]bool{}, 0, 0
	for line := range strings.Lines(calls) {
		if m := renamed.FindStringSubmatch(line); m != nil && m[2] == path {
			if named++; !synced[m[1]] {
				t.Errorf("%s: not all of the file was synced before it was renamed:\n%s", command, calls)
			}
			synced[filepath.Dir(path)] = false
		} else if m := ofFile.FindStringSubmatch(line); m != nil {
			if synced[m[2]] = strings.HasSuffix(m[1], "sync"); synced[m[2]] && m[2] == filepath.Dir(path) {
				kept++
			}
		}
	}
	if named != 1 || kept != 1 || !synced[filepath.Dir(path)] {
		t.Errorf("%s: renamed %d times, the folder synced %d times:\n%s", command, named, kept, calls)
	}
}
