package main

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestLedgerClock has the clock leap by an hour and a week, there and back, while mail flows: mail goes on to flow, and the
// campaign of the moment is known all the time, with no less than it had of copies, sigma and rate.
func TestLedgerClock(t *testing.T) {
	l := lab.NewLedger(13)
	hop := l.Hop("")
	note, verdict := hop.Final, atomic.Pointer[string]{}
	hop.Final = func(m lab.Mail) string {
		if strings.Contains(string(m.Content), "X-Attempt: ") {
			return note(m)
		}
		verdict.Store(new(string(m.Content)))
		return "250 2.0.0 Ok"
	}
	sink := lab.StartSink(t, hop)
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n", sink.Addr))
	d := startAlone(t, conf)
	var w wild
	d.judge.clock = newClock(slog.New(slog.DiscardHandler))
	w.rule(d.judge.clock)
	addr := d.smtp[0].String()
	copies := 0
	another := func() map[string]string {
		t.Helper()
		copies++
		if reply := lab.Send(t, addr, fmt.Sprintf("a@shop%d.example", copies), []string{"b@site.example"}, offer(copies)); reply[0] != '2' {
			t.Fatal(reply)
		}
		return headerOf([]byte(*verdict.Load()))
	}
	for range 5 {
		another()
	}
	stop := l.Run(t, addr, 2)
	held := 0
	for _, off := range []time.Duration{time.Hour, 0, -time.Hour, 0, 7 * 24 * time.Hour, 0, -7 * 24 * time.Hour, 0} {
		w.passed.Add(int64(time.Second))
		w.off.Store(int64(off))
		l.Pass(t, 30)
		h := another()
		if h[""] != "bulk" || h["copies"] != fmt.Sprint(copies) {
			t.Errorf("off by %v: copy %d is %v", off, copies, h)
		}
		if now := d.store.Stats().Messages; now < held+copies {
			t.Errorf("off by %v: %d messages are remembered, %d were before", off, now, held)
		} else {
			held = now - copies
		}
	}
	stop()
	t.Log(l.Balance(t))
	campaigns, err := d.local.Campaigns(t.Context(), 0, 1)
	if err != nil || len(campaigns) != 1 || campaigns[0].Heat < float64(copies)*.9 {
		t.Errorf("%+v, %v", campaigns, err)
	}
	if err := d.stop(lab.Patience); err != nil {
		t.Error(err)
	}
}
