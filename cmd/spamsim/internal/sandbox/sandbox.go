// Package sandbox takes from the process what it will not need: every file but its own, and running programs. It uses
// Landlock (docs.kernel.org/userspace-api/landlock.html), which needs no privilege, holds for the superuser too, cannot be
// undone, and leaves files and sockets that are open as they are. Connections, by TCP or to Unix sockets, are not touched.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// What is granted below a folder. To run a file is granted nowhere.
const (
	reads  landlock.AccessFSSet = ll.AccessFSReadFile | ll.AccessFSReadDir
	writes                      = reads | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRefer |
		ll.AccessFSRemoveFile | ll.AccessFSRemoveDir | ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSMakeSock
)

// system is what the Go runtime and its libraries read: names, certificates of authorities, time zones, the machine.
var system = []string{"/etc", "/usr/share", "/usr/lib/ssl", "/usr/local/share", "/proc", "/sys"}

// Restrict leaves the process what lies below these folders, to read or to write too, and what the system has for all. A
// folder that is not there is left out; it cannot be reached either once it is. active is false where the kernel has no
// Landlock, or it is switched off; an old one does as much of it as it can.
func Restrict(read, write []string) (active bool, err error) {
	abi, err := ll.LandlockGetABIVersion()
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP) || err == nil && abi < 1 {
		return false, nil
	}
	if err != nil { // such as EPERM, of a filter of system calls
		return false, fmt.Errorf("landlock: %w", err)
	}
	if _, err := os.ReadDir("/proc/self/task"); err != nil {
		return false, fmt.Errorf("threads cannot be listed: %w", err) // libpsx, which does so with cgo, would end the process
	}
	err = landlock.V5.BestEffort().RestrictPaths(
		landlock.PathAccess(reads, behindLinks(append(read, system...))...).IgnoreIfMissing(),
		landlock.PathAccess(writes, behindLinks(write)...).IgnoreIfMissing(),
	)
	return err == nil, err
}

// behindLinks adds to each path where it leads.
func behindLinks(paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, p)
		if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
			out = append(out, real)
		}
	}
	return out
}

// FoldersOf are those of files, and of what the files lead to if they are links. "" is none.
func FoldersOf(files ...string) []string {
	var out []string
	for _, f := range files {
		if f == "" {
			continue
		}
		out = append(out, filepath.Dir(f))
		if real, err := filepath.EvalSymlinks(f); err == nil && real != f {
			out = append(out, filepath.Dir(real))
		}
	}
	return out
}
