package smtpproxy

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// xclientHop is a next hop that takes XCLIENT once a connection, as Postfix does.
func xclientHop(t *testing.T) *fake {
	return newFake(t, func(f *fake) {
		f.offer = []string{"PIPELINING", "XCLIENT NAME ADDR PROTO HELO REVERSE_NAME PORT LOGIN DESTADDR DESTPORT"}
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "XCLIENT") {
				f.mu.Lock()
				f.offer = []string{"PIPELINING", "8BITMIME"}
				f.mu.Unlock()
				return "220 hop.test ESMTP"
			}
			return ""
		}
	})
}

func TestXclient(t *testing.T) {
	hop := xclientHop(t)
	_, addr := start(t, Config{NextHop: hop.url(), XCLIENT: true})
	c, words := hello(t, addr)
	if !strings.Contains(words, "8BITMIME") { // what it offers to this client, not to the proxy
		t.Errorf("EHLO: %q", words)
	}
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	for range 2 {
		if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Errorf("answer: %q", r)
		}
	}
	plain := []string{"MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA"}
	want := slices.Concat([]string{"EHLO proxy.test",
		"XCLIENT HELO=client.test PROTO=ESMTP PORT=" + port + " NAME=[UNAVAILABLE] ADDR=127.0.0.1", "EHLO proxy.test"}, plain, plain)
	if said := hop.lines(); !slices.Equal(said, want) {
		t.Errorf("said:\n%s\nwant:\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	c.do("QUIT")
	eventually(t, "its connection ends with it", func() bool { return slices.Contains(hop.lines(), "QUIT") })
}

// TestXclientOfXforward: a trusted peer's word about its client is passed on; another client is another connection.
func TestXclientOfXforward(t *testing.T) {
	hop := newFake(t, func(f *fake) { f.offer = []string{"PIPELINING", "XCLIENT ADDR PORT HELO PROTO"} })
	_, addr := start(t, Config{NextHop: hop.url(), XCLIENT: true})
	c, _ := hello(t, addr)
	c.do("XFORWARD ADDR=192.0.2.7 PORT=1 PROTO=SMTP HELO=one.test")
	c.mail("x\r\n.\r\n")
	c.do("XFORWARD ADDR=IPv6:2001:db8::1 HELO=a+3Db")
	c.mail("x\r\n.\r\n")
	var said []string
	for _, l := range hop.lines() {
		if strings.HasPrefix(l, "XCLIENT") {
			said = append(said, l)
		}
	}
	if want := []string{"XCLIENT HELO=one.test PROTO=SMTP PORT=1 ADDR=192.0.2.7",
		"XCLIENT HELO=a+3Db PROTO=[UNAVAILABLE] PORT=[UNAVAILABLE] ADDR=IPV6:2001:db8::1"}; !slices.Equal(said[1:], want) {
		t.Errorf("said %q, want the peer and %q", said, want)
	}
}

// TestXclientRefused: who is not authorised is told so at once, rather than speak for itself.
func TestXclientRefused(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.offer = []string{"XCLIENT ADDR"}
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "XCLIENT") {
				return "550 5.7.0 not you"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url(), XCLIENT: true})
	c := dialTalk(t, addr)
	c.want("220")
	c.say("EHLO x\r\n")
	c.want(string(replyNoNextHop))
}

// TestXclientNotOffered: a next hop that would not hear of the client gets no mail, from trusted peers neither.
func TestXclientNotOffered(t *testing.T) {
	for _, offered := range []string{"8BITMIME", "XCLIENT NAME HELO"} {
		hop := newFake(t, func(f *fake) { f.offer = []string{"PIPELINING", offered} })
		s, addr := start(t, Config{NextHop: hop.url(), XCLIENT: true})
		if step, answer := outcome(greeted(t, addr)); step != "EHLO" || answer != string(replyNoNextHop) {
			t.Errorf("%s: %s: %q", offered, step, answer)
		}
		if err := s.TryNextHop(); !errors.Is(err, ErrBlind) {
			t.Errorf("%s: %v", offered, err)
		}
	}
}

// greeted connects and reads the greeting.
func greeted(t *testing.T, addr string) *talk {
	t.Helper()
	c := dialTalk(t, addr)
	c.want("220")
	return c
}

// TestTryNextHop: what passes by itself is told from what does not.
func TestTryNextHop(t *testing.T) {
	answers := func(command, reply string) *fake {
		return newFake(t, func(f *fake) {
			f.offer = []string{"XCLIENT ADDR"}
			f.answer = func(_ int, line string) string {
				if verb, _, _ := strings.Cut(line, " "); verb == command {
					return reply
				}
				return ""
			}
		})
	}
	down := newFake(t, nil)
	down.stop()
	for what, c := range map[string]struct {
		hop         *fake
		blind, fail bool
	}{
		"takes it":           {answers("", ""), false, false},
		"refuses for good":   {answers("XCLIENT", "550 5.7.0 not you"), true, true},
		"refuses for now":    {answers("XCLIENT", "421 4.3.2 later"), false, true},
		"too many":           {answers("greeting", "421 4.7.0 too many"), false, true},
		"is not there":       {down, false, true},
		"greets no longer":   {answers("greeting", hangUp), false, true},
		"knows no EHLO":      {answers("EHLO", "500 what"), true, true},
		"no EHLO, and later": {answers("EHLO", "450 later"), false, true},
	} {
		s, err := New(Config{NextHop: c.hop.url(), XCLIENT: true, Hostname: "proxy.test"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.TryNextHop(); errors.Is(err, ErrBlind) != c.blind || (err != nil) != c.fail {
			t.Errorf("%s: %v", what, err)
		}
		_ = s.Close()
	}
	s, err := New(Config{NextHop: down.url()})
	if err != nil || s.TryNextHop() != nil {
		t.Errorf("nothing to tell: %v, %v", err, s.TryNextHop())
	}
}

// TestOpenToTheWorld: where the next hop hears of each client, strangers come in, and the next hop decides about their
// recipients; where domains are given too they are a limit beside.
func TestOpenToTheWorld(t *testing.T) {
	for _, c := range []struct {
		config   Config
		greeting string
		rcpt     string
	}{
		{Config{}, string(replyDenied), ""},
		{Config{XCLIENT: true}, "220", "554 5.7.1 foreign: Relay access denied by hop\r\n"},
		{Config{NextHopProxy: 1}, "220", "554 5.7.1 foreign: Relay access denied by hop\r\n"},
		{Config{XCLIENT: true, RecipientDomains: []string{"hop.test"}}, "220", string(replyNoRelay)},
		{Config{XCLIENT: true, NextHop: "maildir:" + t.TempDir() + "/m"}, string(replyDenied), ""},
	} {
		hop := newFake(t, func(f *fake) {
			f.offer = []string{"PIPELINING", "XCLIENT ADDR"}
			f.proxy = c.config.NextHopProxy != 0
			f.answer = func(_ int, line string) string {
				if line == "RCPT TO:<a@foreign.test>" {
					return "554 5.7.1 foreign: Relay access denied by hop"
				}
				return ""
			}
		})
		if c.config.NextHop == "" {
			c.config.NextHop = hop.url()
		}
		c.config.MaxConnsPer, c.config.Trusted = 1, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		_, addr := start(t, c.config)
		client := dialTalk(t, addr)
		client.want(c.greeting)
		if c.rcpt == "" {
			continue
		}
		client.say("EHLO stranger.test\r\n")
		if words := client.want("250"); strings.Contains(words, "XFORWARD") || strings.Contains(words, "XCLIENT") {
			t.Errorf("EHLO: %q", words)
		}
		client.say("XFORWARD ADDR=192.0.2.1\r\n")
		client.want("550 5.7.0")
		client.do("MAIL FROM:<a@b>", "RCPT TO:<b@hop.test>")
		client.say("RCPT TO:<a@foreign.test>\r\n")
		client.want(c.rcpt)
		dialTalk(t, addr).want(string(replyBusy))
	}
}
