package smtpproxy

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a watchdog, far above what any step takes.
const patience = 20 * time.Second

// loopback is trusted where a test does not say otherwise.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// start runs a proxy on loopback until the test ends and returns its address.
func start(t testing.TB, c Config) (*Server, string) {
	t.Helper()
	if c.Trusted == nil && c.RecipientDomains == nil {
		c.Trusted = loopback
	}
	if c.Hostname == "" {
		c.Hostname = "proxy.test"
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != ErrServerClosed {
			t.Errorf("Serve: %v", err)
		}
	})
	return s, l.Addr().String()
}

// A talk is a client's connection that says what it is told, right or wrong.
type talk struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func dialTalk(t testing.TB, addr string) *talk {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &talk{conn, t, bufio.NewReader(conn)}
}

// hello connects and is greeted; it returns the answer to EHLO too.
func hello(t testing.TB, addr string) (*talk, string) {
	t.Helper()
	c := dialTalk(t, addr)
	c.want("220")
	c.say("EHLO client.test\r\n")
	return c, c.want("250")
}

func (c *talk) say(s string) {
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(c.Conn, s) // an error shows in the next reply
}

// reply reads one reply with all its lines, or what came before the connection ended.
func (c *talk) reply() string {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var all strings.Builder
	for {
		line, err := c.r.ReadString('\n')
		all.WriteString(line)
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			c.t.Fatalf("no reply within %v after %q", patience, all.String())
		}
		if err != nil || len(line) < 4 || line[3] != '-' {
			return all.String()
		}
	}
}

// want reads one reply, which must begin so.
func (c *talk) want(begin string) string {
	c.t.Helper()
	r := c.reply()
	if !strings.HasPrefix(r, begin) {
		c.t.Fatalf("got %q, want %q...", r, begin)
	}
	return r
}

// wantEnd expects that the proxy closes.
func (c *talk) wantEnd() {
	c.t.Helper()
	if r := c.reply(); r != "" {
		c.t.Fatalf("got %q, want the end", r)
	}
}

// do says lines one by one and wants 2xx or 3xx for each.
func (c *talk) do(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		c.say(l + "\r\n")
		if r := c.reply(); r == "" || r[0] > '3' {
			c.t.Fatalf("%s: %q", l, r)
		}
	}
}

// mail sends a message whose content is on the wire as given, final dot included, and returns the last answer.
func (c *talk) mail(wire string) string {
	c.t.Helper()
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	c.say(wire)
	return c.reply()
}

// stuff is content as it goes over the wire.
func stuff(content string) string {
	s := strings.ReplaceAll("\r\n"+content, "\r\n.", "\r\n..")[2:]
	if s != "" && !strings.HasSuffix(s, "\r\n") {
		s += "\r\n"
	}
	return s + ".\r\n"
}

// judging returns a Check that always says the same.
func judging(j judgement) checkFunc {
	return func(context.Context, *envelope, []byte) judgement { return j }
}

// eventually waits until ok says true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// unstuff reads content as it came over the wire, without its final dot.
func unstuff(wire []byte) []byte {
	s := bytes.ReplaceAll(append([]byte("\r\n"), wire...), []byte("\r\n."), []byte("\r\n"))
	return s[2:]
}
