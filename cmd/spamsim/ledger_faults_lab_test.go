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

// broken is what the daemon logs while its store cannot be written.
const broken = "trouble with the store"

// waitBroken waits until the daemon says so once more.
func waitBroken(t *testing.T, s *lab.Spamsim) {
	t.Helper()
	before := strings.Count(s.Log(), broken)
	lab.Eventually(t, broken, func() bool { return strings.Count(s.Log(), broken) > before })
}

// soundAfter stops the daemon, which writes what was pending, and starts it again on its store.
func soundAfter(t *testing.T, s *lab.Spamsim) {
	t.Helper()
	s.Stop()
	s.Start()
	if stats := s.Run("stats"); !strings.Contains(stats, "messages") {
		t.Errorf("after the fault: %s", stats)
	}
}

// TestLedgerStoreFails has the kernel refuse to write the store, or to sync it, while mail flows: it goes on flowing, and what
// was counted reaches the disk in the end.
func TestLedgerStoreFails(t *testing.T) {
	lab.Need(t, "strace")
	l := lab.NewLedger(5)
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, proxyTo(addr, sink.Addr))
	stop := l.Run(t, addr, 2)
	for _, fault := range []string{"fdatasync,fsync:error=EIO", "pwrite64:error=EROFS", "pwrite64:error=ENOSPC:when=1+2"} {
		strace := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-p", strconv.Itoa(s.Pid()),
			"-e", "trace=fdatasync,fsync,pwrite64", "-e", "inject="+fault)
		if err := strace.Start(); err != nil {
			t.Fatal(err)
		}
		waitBroken(t, s)
		l.Pass(t, 100)
		_ = strace.Process.Signal(syscall.SIGTERM)
		_ = strace.Wait() // it says by its status which signal ended it
		l.Pass(t, 100)
	}
	stop()
	soundAfter(t, s)
	t.Log(l.Balance(t))
}

// TestLedgerDiskFull fills the disk under the store while mail flows.
func TestLedgerDiskFull(t *testing.T) {
	disk := smallDisk(t, 512<<10)
	l := lab.NewLedger(6)
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, proxyTo(addr, sink.Addr)+fmt.Sprintf("[store]\npath = %q\n", filepath.Join(disk, "spamsim.db")))
	stop := l.Run(t, addr, 2)
	l.Pass(t, 100)
	free := fill(t, disk)
	waitBroken(t, s)
	l.Pass(t, 100)
	free()
	l.Pass(t, 100)
	stop()
	t.Log(l.Balance(t))
}

// TestLedgerDescriptors gives the proxy fewer descriptors than its clients need.
func TestLedgerDescriptors(t *testing.T) {
	l := lab.NewLedger(7)
	l.Fresh = true // who waits to be accepted gets in when others leave
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, proxyTo(addr, sink.Addr))
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Under = []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, len(open)+6), "sh"}
	s.Start()
	stop := l.Run(t, addr, 8)
	lab.Eventually(t, "descriptors are used up", func() bool { return strings.Contains(s.Log(), "too many open files") })
	l.Pass(t, 100)
	stop()
	s.Stop()
	t.Log(l.Balance(t))
}

// TestLedgerMemory gives the proxy memory for a message and a half.
func TestLedgerMemory(t *testing.T) {
	l := lab.NewLedger(8)
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	lab.StartSpamsim(t, strings.Replace(proxyTo(addr, sink.Addr), "[limits]\n", "[limits]\nmemory = \"96KB\"\n", 1))
	stop := l.Run(t, addr, 8)
	l.Pass(t, 800)
	stop()
	sums := l.Balance(t)
	if sums.Refused == 0 {
		t.Error("memory was enough for all: nothing is shown")
	}
	t.Log(sums)
}
