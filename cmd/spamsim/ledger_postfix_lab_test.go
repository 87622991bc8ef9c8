package main

import (
	"fmt"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// milterBefore starts a Postfix with the daemon as its milter, in front of a sink, and clients that send to it.
func milterBefore(t *testing.T, l *lab.Ledger, sink *lab.Sink, whenDown string) (*lab.Postfix, *lab.Spamsim, func()) {
	t.Helper()
	lab.Need(t, "postfix")
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = []\n[milter]\nlisten = [%q]\n[limits]\nmax_judged_size = \"32KB\"\n", addr))
	p := lab.StartPostfix(t, lab.PostfixConfig{NextHop: sink.Addr, Milters: []string{"inet:" + addr}, Main: []string{
		"milter_default_action = " + whenDown, "smtpd_error_sleep_time = 0"}})
	return p, s, l.Run(t, p.Addr, 4)
}

// settled waits until Postfix has handed all on that it accepted.
func settled(t *testing.T, l *lab.Ledger, p *lab.Postfix) {
	t.Helper()
	p.Drain(t)
	lab.Eventually(t, "all that Postfix accepted arrived", func() bool { return l.Missing() == 0 })
	t.Log(l.BalanceRelay(t))
}

// TestLedgerMilterKilled kills the milter at any moment. Whatever Postfix does without it, what it accepts arrives once.
func TestLedgerMilterKilled(t *testing.T) {
	for _, whenDown := range []string{"accept", "tempfail"} {
		t.Run(whenDown, func(t *testing.T) {
			r := chance()
			l := lab.NewLedger(r.Uint64())
			p, s, stop := milterBefore(t, l, lab.StartSink(t, l.Hop("")), whenDown)
			for range kills(6) {
				l.Pass(t, r.IntN(300))
				s.Kill()
				s.Start()
			}
			stop()
			settled(t, l, p)
		})
	}
}

// TestLedgerPostfixKilled kills Postfix, all of it: what it had accepted arrives, and twice only what it was about to strike
// off. The milter outlives it.
func TestLedgerPostfixKilled(t *testing.T) {
	r := chance()
	l := lab.NewLedger(r.Uint64())
	sink := lab.StartSink(t, l.Hop(""))
	p, _, stop := milterBefore(t, l, sink, "tempfail")
	for range kills(4) {
		l.Pass(t, r.IntN(300))
		l.RelayDies()
		p.Kill(t, func() {
			sink.Idle(t) // it has read what the dead one sent
			l.RelayDies()
		})
	}
	stop()
	settled(t, l, p)
}
