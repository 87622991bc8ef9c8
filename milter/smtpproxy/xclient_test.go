package smtpproxy

import (
	"net"
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

// TestXclientNotOffered: mail flows without.
func TestXclientNotOffered(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), XCLIENT: true})
	c, _ := hello(t, addr)
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
}
