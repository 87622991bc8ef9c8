package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// upgrades is how often each test replaces the daemon.
func upgrades() int {
	if lab.Race {
		return 2
	}
	return 5
}

// retired adds up what the daemons said when they had let their last clients go.
func retired(t *testing.T, s *lab.Spamsim, times int) (handed, unjudged int) {
	t.Helper()
	line := regexp.MustCompile(`msg=retired judged_by_successor=(\d+) unjudged=(\d+)`)
	lab.Eventually(t, "the daemons before have ended", func() bool { return len(line.FindAllString(s.Log(), -1)) == times })
	for _, m := range line.FindAllStringSubmatch(s.Log(), -1) {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		handed, unjudged = handed+a, unjudged+b
	}
	return handed, unjudged
}

// TestLedgerUpgraded replaces the daemon again and again while mail flows: nobody is turned away, every attempt is accepted
// at once, and what the old one had in hand the new one judges.
func TestLedgerUpgraded(t *testing.T) {
	for _, sandbox := range []bool{true, false} {
		t.Run(fmt.Sprint("sandbox ", sandbox), func(t *testing.T) {
			const clients = 4
			l := lab.NewLedger(10)
			l.Fresh = true
			var errors atomic.Int64
			hop := l.Hop("")
			note := hop.Final
			hop.Final = func(m lab.Mail) string {
				if strings.HasPrefix(string(m.Content), "X-Spamsim: error") {
					errors.Add(1)
				}
				return note(m)
			}
			sink := lab.StartSink(t, hop)
			addr := lab.FreeAddr(t)
			s := lab.StartSpamsim(t, fmt.Sprintf("sandbox = %v\n", sandbox)+proxyTo(addr, sink.Addr))
			first := s.Pid()
			upgradeUnderLoad(t, l, s, addr, clients)
			handed, unjudged := retired(t, s, upgrades())
			sums := l.Balance(t)
			if sums.Turned+sums.Refused+sums.Unknown > 0 {
				t.Errorf("somebody was turned away: %d connections; %s", sums.Turned, sums)
			}
			if unjudged > upgrades()*clients || int(errors.Load()) < unjudged {
				t.Errorf("%d messages passed unjudged, %d with that verdict", unjudged, errors.Load())
			}
			if s.Pid() == first {
				t.Error("it is the same process")
			}
			t.Logf("%s; of %d messages in flight %d passed unjudged", sums, handed+unjudged, unjudged)
			s.Stop()
		})
	}
}

// upgradeUnderLoad has clients send messages to addr while the daemon is upgraded again and again.
func upgradeUnderLoad(t *testing.T, l *lab.Ledger, s *lab.Spamsim, addr string, clients int) {
	t.Helper()
	stop := l.Run(t, addr, clients)
	for range upgrades() {
		l.Pass(t, 200)
		s.Upgrade()
	}
	l.Pass(t, 200)
	stop()
}

// TestLedgerUpgradedKept is the same with clients that keep their connections: each of them is told to come back between two
// messages, and does.
func TestLedgerUpgradedKept(t *testing.T) {
	l := lab.NewLedger(11)
	sink := lab.StartSink(t, l.Hop(""))
	dir := t.TempDir()
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, proxyTo(addr, sink.Addr)+fmt.Sprintf("[milter]\nlisten = [\"unix:%s/milter\"]\n", dir))
	upgradeUnderLoad(t, l, s, addr, 4)
	handed, unjudged := retired(t, s, upgrades())
	sums := l.Balance(t)
	if sums.Turned > 0 || sums.Unknown > 0 {
		t.Errorf("%d connections were refused; %s", sums.Turned, sums)
	}
	t.Logf("%s; of %d messages in flight %d passed unjudged", sums, handed+unjudged, unjudged)
	modes(t, map[string]os.FileMode{filepath.Join(dir, "milter"): 0o660})
	s.Stop()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestLedgerUpgradedMilter is the same with the milter of a real Postfix, which refuses mail where there is none.
func TestLedgerUpgradedMilter(t *testing.T) {
	l := lab.NewLedger(12)
	l.Fresh = true
	p, s, stop := milterBefore(t, l, lab.StartSink(t, l.Hop("")), "tempfail")
	for range upgrades() {
		l.Pass(t, 200)
		s.Upgrade()
	}
	l.Pass(t, 200)
	stop()
	handed, unjudged := retired(t, s, upgrades())
	p.Drain(t)
	lab.Eventually(t, "all that Postfix accepted arrived", func() bool { return l.Missing() == 0 })
	sums := l.BalanceRelay(t)
	if sums.Turned+sums.Refused+sums.Unknown > 0 {
		t.Errorf("somebody was turned away: %d connections; %s", sums.Turned, sums)
	}
	t.Logf("%s; of %d messages in flight %d passed unjudged", sums, handed+unjudged, unjudged)
	s.Stop()
}
