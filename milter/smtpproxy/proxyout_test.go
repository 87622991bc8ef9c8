package smtpproxy

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestProxyHeader: golden headers, by sections 2.1 and 2.2 of the protocol's specification.
func TestProxyHeader(t *testing.T) {
	const (
		signature = "\r\n\r\n\x00\r\nQUIT\n"
		any4      = "\x00\x00\x00\x00"
	)
	for _, c := range []struct {
		version  byte
		from, to string
		want     string
	}{
		{1, "192.0.2.7:4242", "198.51.100.1:25", "PROXY TCP4 192.0.2.7 198.51.100.1 4242 25\r\n"},
		{1, "[2001:db8::1]:4242", "[::1]:25", "PROXY TCP6 2001:db8::1 ::1 4242 25\r\n"},
		{1, "[::ffff:192.0.2.7]:1", "[::ffff:198.51.100.1]:25", "PROXY TCP4 192.0.2.7 198.51.100.1 1 25\r\n"},
		{1, "[fe80::1%lo]:1", "127.0.0.1:25", "PROXY TCP6 fe80::1 :: 1 0\r\n"},
		{1, "192.0.2.7:1", "", "PROXY TCP4 192.0.2.7 0.0.0.0 1 0\r\n"},
		{1, "", "127.0.0.1:25", "PROXY TCP4 127.0.0.8 127.0.0.9 1 2\r\n"},
		{2, "192.0.2.7:4242", "198.51.100.1:25", signature + "\x21\x11\x00\x0c\xc0\x00\x02\x07\xc6\x33\x64\x01\x10\x92\x00\x19"},
		{2, "192.0.2.7:1", "[::1]:25", signature + "\x21\x11\x00\x0c\xc0\x00\x02\x07" + any4 + "\x00\x01\x00\x00"},
		{2, "[2001:db8::1]:1", "[::1]:25", signature + "\x21\x21\x00\x24\x20\x01\x0d\xb8" + any4 + any4 + "\x00\x00\x00\x01" +
			any4 + any4 + any4 + "\x00\x00\x00\x01\x00\x01\x00\x19"},
		{2, "", "", signature + "\x20\x00\x00\x00"},
	} {
		conn := fixed{net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.8:1")), net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.9:2"))}
		if got := (origin{c.version, addrPort(word(c.from)), addrPort(word(c.to))}).header(conn); got != c.want {
			t.Errorf("%d %s %s: %q, want %q", c.version, c.from, c.to, got, c.want)
		}
	}
}

// A word is an address as it is written.
type word string

func (w word) Network() string { return "tcp" }
func (w word) String() string  { return string(w) }

// A fixed is a connection between two addresses.
type fixed [2]net.Addr

func (f fixed) LocalAddr() net.Addr  { return f[0] }
func (f fixed) RemoteAddr() net.Addr { return f[1] }

// TestProxyToNextHop: each client has a connection of its own that tells its address, for all its mail; a trusted peer's word
// about its client is told, and no connection serves two.
func TestProxyToNextHop(t *testing.T) {
	for version, v := range map[byte]string{1: "v1 ", 2: "v2 "} {
		hop := newFake(t, func(f *fake) { f.proxy = true })
		s, addr := start(t, Config{NextHop: hop.url(), NextHopProxy: version})
		c, words := hello(t, addr)
		if !strings.Contains(words, "8BITMIME") {
			t.Errorf("EHLO: %q", words)
		}
		for range 2 {
			if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
				t.Errorf("answer: %q", r)
			}
		}
		own := v + c.LocalAddr().String() + " " + addr
		if got := hop.clients(); !slices.Equal(got, []string{own}) {
			t.Errorf("told of %q, want %q", got, own)
		}
		want := []string{own}
		for words, told := range map[string]string{
			"ADDR=192.0.2.7 PORT=4242":     v + "192.0.2.7:4242 " + addr,
			"ADDR=IPv6:2001:db8::1 PORT=1": v + "[2001:db8::1]:1 [::]:0",
		} {
			c.do("XFORWARD " + words)
			c.mail("x\r\n.\r\n")
			want = append(want, told)
		}
		if got := hop.clients(); !slices.Equal(got, want) {
			t.Errorf("told of %q, want %q", got, want)
		}
		if len(hop.mails()) != 4 || s.TryNextHop() != nil {
			t.Errorf("%d delivered; %v", len(hop.mails()), s.TryNextHop())
		}
	}
}

// TestProxyNotExpected: a next hop that takes the header for a command is found out before any mail goes there.
func TestProxyNotExpected(t *testing.T) {
	for _, version := range []byte{1, 2} {
		for _, says := range []string{"502 5.5.2 not recognized", "221 2.0.0 bye"} {
			hop := newFake(t, func(f *fake) {
				f.answer = func(_ int, line string) string {
					if line == "greeting" || strings.HasPrefix(line, "EHLO") {
						return ""
					}
					return says
				}
			})
			s, addr := start(t, Config{NextHop: hop.url(), NextHopProxy: version})
			if err := s.TryNextHop(); !errors.Is(err, ErrBlind) {
				t.Errorf("%d, %q: %v", version, says, err)
			}
			if step, answer := outcome(greeted(t, addr)); step != "EHLO" || answer != string(replyNoNextHop) {
				t.Errorf("%d, %q: %s: %q", version, says, step, answer)
			}
			if len(hop.mails()) > 0 {
				t.Errorf("%d, %q: delivered", version, says)
			}
		}
	}
}

func TestNoSuchProxyVersion(t *testing.T) {
	if _, err := New(Config{NextHop: "smtp://127.0.0.1:1", NextHopProxy: 3}); !errors.Is(err, ErrNextHop) {
		t.Error(err)
	}
}
