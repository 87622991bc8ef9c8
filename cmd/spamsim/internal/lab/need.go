// Package lab holds what the integration tests share: real servers started as private instances on loopback, an SMTP
// sink that keeps what arrives byte by byte, and an SMTP client that sends what it is told. Only tests import it.
package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// NoSkip is the environment variable that, set to 1, turns every skip into a failure.
const NoSkip = "SPAMSIM_NO_SKIP"

// Patience bounds every wait of the lab. It is a watchdog, far above what any step takes, not a measure.
const Patience = time.Minute

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

// Servers is the environment variable that names the folder in which .ci/servers unpacked packages. Where it is not set
// they lie in the module's .ci/cache/servers.
const Servers = "SPAMSIM_SERVERS"

// serversDir is that folder.
func serversDir() string {
	if dir := os.Getenv(Servers); dir != "" {
		return dir
	}
	dir, err := os.Getwd() // tests run in their package's folder
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
	}
	return filepath.Join(dir, ".ci/cache/servers")
}

// NeedUnpacked skips the test unless the Debian packages were unpacked by .ci/servers and this user may run them. With
// SPAMSIM_NO_SKIP=1 it fails the test instead.
func NeedUnpacked(t testing.TB, packages ...string) {
	t.Helper()
	for _, p := range packages {
		if _, err := os.Stat(filepath.Join(serversDir(), p)); err != nil {
			Skip(t, "needs "+p+", unpacked: .ci/servers")
		}
	}
	if os.Geteuid() != 0 {
		Skip(t, "needs root: "+strings.Join(packages, ", ")+" in a chroot")
	}
}

// Unpacked is where a program of an unpacked Debian package lies, for one that runs without its libraries and files in their
// places. It skips the test as NeedUnpacked does.
func Unpacked(t testing.TB, pkg, program string) string {
	t.Helper()
	NeedUnpacked(t, pkg)
	return filepath.Join(serversDir(), pkg, program)
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
// port it got. It lies below those that Linux gives to connections and to listeners on port 0 (32768 and up), of which one
// might take it meanwhile, and is handed out once; another process of tests picks the same with a chance of 1 in 20,000.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprint("127.0.0.1:", 12000+rand.IntN(20000))
		if _, given := handedOut.LoadOrStore(addr, true); given {
			continue
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// handedOut are the addresses that FreeAddr returned or found taken.
var handedOut sync.Map

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
