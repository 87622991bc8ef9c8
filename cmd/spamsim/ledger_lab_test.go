package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// Environment variables of the long form (.ci/long): how often something is killed, and where chance begins.
const (
	envKills = "SPAMSIM_KILLS"
	envSeed  = "SPAMSIM_SEED"
)

// kills is how often a test kills.
func kills(usual int) int {
	if lab.Race {
		usual = 1 // it looks for races, of which there is one chance in each life
	}
	return fromEnv(envKills, usual)
}

// chance is a test's source of moments.
func chance() *rand.Rand { return rand.New(rand.NewPCG(7, uint64(fromEnv(envSeed, 1)))) }

func fromEnv(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// proxyTo configures a proxy that judges small messages and streams larger ones on.
func proxyTo(listen, hop string) string {
	return fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n[limits]\nmax_judged_size = \"32KB\"\n", listen, hop)
}

// TestLedgerKilled kills the proxy at any moment: what it had answered was delivered, and nothing was cut.
func TestLedgerKilled(t *testing.T) {
	r := chance()
	l := lab.NewLedger(r.Uint64())
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, proxyTo(addr, sink.Addr))
	stop := l.Run(t, addr, 4)
	for range kills(30) {
		l.Pass(t, r.IntN(80))
		s.Kill()
		s.Start()
	}
	stop()
	t.Log(l.Balance(t))
}

// TestLedgerNextHopKilled kills the next hop.
func TestLedgerNextHopKilled(t *testing.T) {
	r := chance()
	l := lab.NewLedger(r.Uint64())
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	lab.StartSpamsim(t, proxyTo(addr, sink.Addr))
	stop := l.Run(t, addr, 4)
	for range kills(30) {
		l.Pass(t, r.IntN(80))
		l.HopDies()
		sink.Kill()
		sink = lab.StartSink(t, l.Hop(sink.Addr))
	}
	stop()
	t.Log(l.Balance(t))
}

// TestLedgerBreaks breaks a connection off at every step of an attempt and in every way, on the client's side. After each the
// proxy takes the next message.
func TestLedgerBreaks(t *testing.T) {
	l := lab.NewLedger(3)
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	lab.StartSpamsim(t, proxyTo(addr, sink.Addr))
	for range 4 { // the sizes of messages are by chance
		for _, at := range lab.Steps {
			for _, how := range []lab.Break{lab.Leave, lab.Reset, lab.Half} {
				l.Try(addr, at, how)
			}
			if reply := l.Try(addr, "", lab.Leave); reply == "" || reply[0] != '2' {
				t.Errorf("after a client broke off at %s: %q", at, reply)
			}
		}
	}
	t.Log(l.Balance(t))
}

// absurd are answers that no server should give, at any step.
var absurd = []string{
	lab.Drop, lab.HalfClose, lab.Raw, lab.Raw + "25", lab.Raw + "250", lab.Raw + "250-Ok\r\n", lab.Raw + "\r\n", lab.Raw + "\x00\xff\r\n",
	lab.Raw + "HTTP/1.1 400 Bad Request\r\n\r\n", lab.Raw + "250-Ok\r\n550 no\r\n", "250 Ok\n250 Ok", "999 what", "354 go on", "220 again",
	"421 4.3.2 going down", "451 4.3.0 later", "550 5.7.1 never", lab.Raw + "250 " + strings.Repeat("x", 1<<17) + "\r\n",
	lab.Raw + strings.Repeat("250-x\r\n", 1<<15),
}

// TestLedgerNextHopBreaks has the next hop break off, close half of the connection or answer nonsense at every step; at the
// final dot once with the message taken and once without.
func TestLedgerNextHopBreaks(t *testing.T) {
	var odd struct {
		sync.Mutex
		at, say string
		keep    bool
	}
	l := lab.NewLedger(4)
	config := l.Hop("")
	usual := config.Final
	config.Answer = func(line string) string {
		odd.Lock()
		defer odd.Unlock()
		if strings.HasPrefix(line, odd.at) {
			return odd.say
		}
		return ""
	}
	config.Final = func(m lab.Mail) string {
		odd.Lock()
		defer odd.Unlock()
		if odd.at != "." {
			return usual(m)
		}
		if odd.keep {
			l.Kept(m)
		}
		return odd.say
	}
	sink := lab.StartSink(t, config)
	addr := lab.FreeAddr(t)
	lab.StartSpamsim(t, proxyTo(addr, sink.Addr))
	set := func(at, say string, keep bool) {
		odd.Lock()
		defer odd.Unlock()
		odd.at, odd.say, odd.keep = at, say, keep
	}
	for _, at := range []string{"EHLO", "MAIL", "RCPT", "DATA", "."} {
		for _, say := range append(absurd, lab.CutContent) {
			honest := strings.HasPrefix(say, "4") || strings.HasPrefix(say, "5") // a refusal that means it
			switch {
			case say == lab.CutContent && at != "DATA", at != "." && strings.HasPrefix(say, "250 Ok"):
				continue
			}
			set(at, say, at == "." && !honest)
			for range 2 {
				l.Try(addr, "", lab.Leave)
			}
			if !strings.HasPrefix(say, "2") { // that would be a lie
				set(at, say, false)
				l.Try(addr, "", lab.Leave)
			}
			set("no such step", "", false)
			if reply := l.Try(addr, "", lab.Leave); reply == "" || reply[0] != '2' {
				t.Errorf("after %.40q to %s: %q", say, at, reply)
			}
		}
	}
	t.Log(l.Balance(t))
}
