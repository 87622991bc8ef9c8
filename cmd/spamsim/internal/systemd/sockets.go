package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// firstPassed is the first descriptor that is passed (SD_LISTEN_FDS_START).
const firstPassed = 3

// maxPassed bounds how many are believed to be passed.
const maxPassed = 1000

// errPassed is an environment that names sockets which are none.
var errPassed = errors.New("sockets passed by the service manager")

// Sockets returns the listeners that the manager passed to the process pid, by the names that FileDescriptorName= gave them.
func Sockets(getenv func(string) string, pid int) (map[string][]net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil // none, or they are another's
	}
	n, err := strconv.Atoi(getenv("LISTEN_FDS"))
	if err != nil || n < 0 || n > maxPassed {
		return nil, fmt.Errorf("%w: LISTEN_FDS is %q", errPassed, getenv("LISTEN_FDS"))
	}
	names := strings.Split(getenv("LISTEN_FDNAMES"), ":")
	if n > 0 && len(names) != n {
		return nil, fmt.Errorf("%w: %d names for %d sockets", errPassed, len(names), n)
	}
	return take(firstPassed, names[:n])
}

// take makes listeners of descriptors that follow one another. What is passed to us is not passed on to programs.
func take(first int, names []string) (map[string][]net.Listener, error) {
	out := map[string][]net.Listener{}
	for i, name := range names {
		unix.CloseOnExec(first + i)
		file := os.NewFile(uintptr(first+i), name)
		l, err := net.FileListener(file)
		_ = file.Close() // the listener has a copy
		if err != nil {
			Close(out)
			return nil, fmt.Errorf("%w: %s: %w", errPassed, name, err)
		}
		out[name] = append(out[name], l)
	}
	return out, nil
}

// Close closes listeners that are not served after all.
func Close(sockets map[string][]net.Listener) {
	for _, list := range sockets {
		for _, l := range list {
			l.Close()
		}
	}
}
