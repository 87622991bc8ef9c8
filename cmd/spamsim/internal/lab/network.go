package lab

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// OwnNetwork gives the test a loopback interface of its own, so that it may listen on the very ports that a page names,
// whatever runs on this machine. It holds for what the test's own goroutine opens and for the programs that it starts, not
// for other goroutines. It needs root and skips the test otherwise.
func OwnNetwork(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Skip(t, "needs root: a network of its own")
	}
	runtime.LockOSThread() // for good: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		Skip(t, "no network of its own: "+err.Error())
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}
