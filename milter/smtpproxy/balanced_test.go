package smtpproxy

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"
)

// header2 is a PROXY header of version 2.
func header2(t *testing.T, source string) string {
	t.Helper()
	h := &proxyproto.Header{Version: 2, Command: proxyproto.PROXY, TransportProtocol: proxyproto.TCPv4,
		SourceAddr:      net.TCPAddrFromAddrPort(netip.MustParseAddrPort(source)),
		DestinationAddr: &net.TCPAddr{IP: net.IPv4(198, 51, 100, 1), Port: 25}}
	b, err := h.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLoadBalancer: the client's address is the header's, for the envelope, for trust and for limits.
func TestLoadBalancer(t *testing.T) {
	hop := newFake(t, nil)
	var got captured
	s, addr := start(t, Config{NextHop: hop.url(), Check: got.check, ProxyPeers: loopback, MaxConnsPer: 1,
		Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, RecipientDomains: []string{"hop.test"}})
	for _, c := range []struct {
		header, addr string
		trusted      bool
	}{
		{"PROXY TCP4 192.0.2.7 198.51.100.1 4242 25\r\n", "192.0.2.7", true},
		{"PROXY TCP6 2001:db8::1 2001:db8::2 4242 25\r\n", "2001:db8::1", false},
		{header2(t, "203.0.113.9:4242"), "203.0.113.9", false},
		{"PROXY UNKNOWN\r\n", "127.0.0.1", false},
	} {
		client := dialTalk(t, addr)
		client.say(c.header)
		client.want("220")
		client.say("EHLO x\r\n")
		if words := client.want("250"); strings.Contains(words, "XFORWARD") != c.trusted {
			t.Errorf("%q: %q", c.header, words)
		}
		client.mail("x\r\n.\r\n")
		if e := got.envs[len(got.envs)-1]; e.ClientAddr != c.addr {
			t.Errorf("%q: %+v", c.header, e)
		}
		second := dialTalk(t, addr)
		second.say(c.header)
		if c.trusted {
			second.want("220")
		} else {
			second.want(string(replyBusy))
		}
		client.Close()
		second.Close()
		eventually(t, "both are gone", func() bool { return s.Stats().Open == 0 })
	}
	if len(s.perNetwork) != 0 {
		t.Errorf("%v", s.perNetwork)
	}
}

// TestLoadBalancerOfUnix: a header that tells of a Unix socket is not one: nobody has decided by its permissions.
func TestLoadBalancerOfUnix(t *testing.T) {
	h := &proxyproto.Header{Version: 2, Command: proxyproto.PROXY, TransportProtocol: proxyproto.UnixStream,
		SourceAddr: &net.UnixAddr{Name: "/a", Net: "unix"}, DestinationAddr: &net.UnixAddr{Name: "/b", Net: "unix"}}
	header, err := h.Format()
	if err != nil {
		t.Fatal(err)
	}
	_, addr := start(t, Config{NextHop: newFake(t, nil).url(), ProxyPeers: loopback, RecipientDomains: []string{"hop.test"}})
	c := dialTalk(t, addr)
	c.say(string(header))
	c.want("220")
	c.do("EHLO x", "MAIL FROM:<a@b>")
	c.say("RCPT TO:<anybody@elsewhere.test>\r\n")
	c.want("5")
}

// TestLoadBalancerWithoutHeader: what does not begin with one is closed, and does not keep others waiting.
func TestLoadBalancerWithoutHeader(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), ProxyPeers: loopback, RecipientDomains: []string{"hop.test"}})
	dialTalk(t, addr) // says nothing
	c := dialTalk(t, addr)
	c.say("EHLO x\r\n")
	c.wantEnd()
	c = dialTalk(t, addr)
	c.say("PROXY TCP4 192.0.2.7 198.51.100.1 4242 25\r\nEHLO x\r\n")
	c.want("220")
	c.want("250")
	_, addr = start(t, Config{NextHop: hop.url(), ProxyPeers: loopback})
	c = dialTalk(t, addr)
	c.say(header2(t, "127.0.0.9:1"))
	c.want("220") // trusted by its own address
}
