package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// pace is how long a message takes whose client is alone, of eleven the one in the middle.
func pace(t *testing.T, l *lab.Ledger, addr string) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 11 {
		begun := time.Now()
		if reply := l.Try(addr, "", lab.Leave); reply == "" || reply[0] != '2' {
			t.Errorf("alone: %q", reply)
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[5]
}

// holds is how many octets of messages the proxy has in memory.
func holds(t *testing.T, s *lab.Spamsim) (octets int64) {
	t.Helper()
	var stats struct{ Doors map[string]map[string]int64 }
	if err := json.Unmarshal([]byte(s.Run("-q", "stats", "--json")), &stats); err != nil {
		t.Fatal(err)
	}
	return stats.Doors["smtp"]["held"]
}

// TestLedgerOverload: more clients than there are connections, more mail than there is memory for, without a pause.
// What is accepted arrives, memory stays where it was after the first thousand steps, and all is given back: once the last
// message is answered none is held, and the next one waits for nothing. SPAMSIM_STEPS says for how many it goes on (.ci/long).
func TestLedgerOverload(t *testing.T) {
	l := lab.NewLedger(9)
	l.Fresh = true
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	config := strings.Replace(proxyTo(addr, sink.Addr), "[limits]\n", "connections = 30\n[limits]\nmemory = \"128KB\"\n", 1)
	s := lab.StartSpamsim(t, config)
	idle, calm := descriptors(s.Pid()), pace(t, l, addr)
	stop := l.Run(t, addr, 60)
	l.Pass(t, 1000)
	first := kilobytes(t, s.Pid(), "VmHWM")
	for done := 0; done < fromEnv("SPAMSIM_STEPS", 3000); done += 1000 {
		l.Pass(t, 1000)
	}
	stop()
	ended := time.Now()
	lab.Eventually(t, "the proxy holds no message", func() bool { return holds(t, s) == 0 })
	after := pace(t, l, addr) // nothing waits any more: it is the machine's
	t.Logf("a message took %v before, and %v within %v of the end", calm, after, time.Since(ended))
	last := kilobytes(t, s.Pid(), "VmHWM")
	if !lab.Race && last > first+64<<10 {
		t.Errorf("it took %d KB at first and %d KB in the end", first, last)
	}
	const kept = 64 // connections to the next hop, for ten seconds
	lab.Eventually(t, "descriptors are given back", func() bool { return descriptors(s.Pid()) <= idle+kept })
	sums := l.Balance(t)
	if sums.Refused == 0 {
		t.Error("nobody was asked to come back: nothing is shown")
	}
	t.Logf("%s; %d KB at first, %d KB in the end", sums, first, last)
}
