package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// kilobytes is a number of /proc/PID/status, such as VmHWM, in KB.
func kilobytes(t *testing.T, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in\n%s", name, text)
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// descriptors counts those that a process has open.
func descriptors(pid int) int {
	open, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(open)
}

// TestLedgerOverload: more clients than there are connections, more mail than there is memory for, without a pause.
// What is accepted arrives, memory stays where it was after the first thousand steps, and all is given back. SPAMSIM_STEPS
// says for how many it goes on (.ci/long).
func TestLedgerOverload(t *testing.T) {
	l := lab.NewLedger(9)
	l.Fresh = true
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	config := strings.Replace(proxyTo(addr, sink.Addr), "[limits]\n", "connections = 30\n[limits]\nmemory = \"128KB\"\n", 1)
	s := lab.StartSpamsim(t, config)
	idle := descriptors(s.Pid())
	stop := l.Run(t, addr, 60)
	l.Pass(t, 1000)
	first := kilobytes(t, s.Pid(), "VmHWM")
	for done := 0; done < fromEnv("SPAMSIM_STEPS", 3000); done += 1000 {
		l.Pass(t, 1000)
	}
	stop()
	last := kilobytes(t, s.Pid(), "VmHWM")
	if !lab.Race && last > first+64<<10 {
		t.Errorf("it took %d KB at first and %d KB in the end", first, last)
	}
	const kept = 64 // connections to the next hop, for ten seconds
	lab.Eventually(t, "descriptors are given back", func() bool { return descriptors(s.Pid()) <= idle+kept })
	if reply := l.Try(addr, "", lab.Leave); reply == "" || reply[0] != '2' {
		t.Errorf("after it: %q", reply)
	}
	sums := l.Balance(t)
	if sums.Refused == 0 {
		t.Error("nobody was asked to come back: nothing is shown")
	}
	t.Logf("%s; %d KB at first, %d KB in the end", sums, first, last)
}
