// Package lab holds what the integration tests share: real servers started as private instances on loopback, an SMTP
// sink that keeps what arrives byte by byte, and an SMTP client that sends what it is told. Only tests import it.
package lab

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// NoSkip is the environment variable that, set to 1, turns every skip into a failure.
const NoSkip = "SPAMSIM_NO_SKIP"

// Patience bounds every wait of the lab. It is a watchdog, far above what any step takes, not a measure.
const Patience = 30 * time.Second

// programs names the program by which an installed Debian package is known, where it is not the package's own name.
// Servers lie outside an ordinary user's path.
var programs = map[string]string{
	"postfix": "/usr/sbin/postfix",
}

// needsRoot are the packages whose servers change users and therefore start as root only.
var needsRoot = map[string]bool{"postfix": true}

// Need skips the test unless the Debian packages are installed and usable by this user. With SPAMSIM_NO_SKIP=1 it
// fails the test instead.
func Need(t testing.TB, packages ...string) {
	t.Helper()
	for _, p := range packages {
		program := p
		if known := programs[p]; known != "" {
			program = known
		}
		if _, err := exec.LookPath(program); err != nil {
			Skip(t, "needs "+p+": apt-get install "+p)
		}
		if needsRoot[p] && os.Geteuid() != 0 {
			Skip(t, "needs root: "+p+" changes users")
		}
	}
}

// Skip skips the test and says why. With SPAMSIM_NO_SKIP=1 it fails the test instead.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(NoSkip) == "1" {
		t.Fatal(why + " (" + NoSkip + "=1 forbids to skip)")
	}
	t.Skip(why)
}

// FreeAddr returns a loopback address with a port that was free a moment ago, for a server that cannot tell which
// port it got. Another process may take it meanwhile; ports are handed out in turn, so that is rare.
func FreeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Eventually waits until ok says true and fails the test where it never does; what names the thing waited for.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited %v in vain: %s", Patience, what)
}
