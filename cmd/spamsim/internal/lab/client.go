package lab

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"
)

// dialer gives up soon: everything is on loopback.
var dialer = net.Dialer{Timeout: 5 * time.Second}

// A Client is one SMTP connection that sends what it is told, right or wrong.
type Client struct {
	Greeting string // the server's first reply
	Conn     net.Conn

	t testing.TB
	r *bufio.Reader
}

// Dial connects and reads the greeting. The connection is closed when the test ends.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	return DialFrom(t, "127.0.0.1", addr)
}

// DialFrom is Dial from another address of this host: all of 127.0.0.0/8 is here on Linux.
func DialFrom(t testing.TB, from, addr string) *Client {
	t.Helper()
	d := dialer
	d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &Client{Conn: conn, t: t, r: bufio.NewReader(conn)}
	c.Greeting = c.Reply()
	return c
}

// Reply reads one reply, whose lines are joined by LF. It is what came so far where the server hangs up.
func (c *Client) Reply() string {
	c.t.Helper()
	_ = c.Conn.SetReadDeadline(time.Now().Add(Patience))
	var lines []string
	for {
		line, err := c.r.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			c.t.Fatalf("no reply within %v, after %q", Patience, lines)
		}
		if err != nil {
			return strings.Join(append(lines, line), "\n")
		}
		lines = append(lines, line)
		if len(line) < 4 || line[3] != '-' {
			return strings.Join(lines, "\n")
		}
	}
}

// Write sends bytes as they are. An error shows in the next reply.
func (c *Client) Write(raw string) {
	_, _ = c.Conn.Write([]byte(raw))
}

// Do sends one command and returns its reply.
func (c *Client) Do(line string) string {
	c.t.Helper()
	c.Write(line + "\r\n")
	return c.Reply()
}

// Must sends commands and fails the test unless each is answered by 2xx or 3xx.
func (c *Client) Must(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if reply := c.Do(line); reply == "" || reply[0] > '3' {
			c.t.Fatalf("%s: %s", line, reply)
		}
	}
}

// Content sends a message's content after a 354, dots stuffed, and returns the reply to the final dot.
func (c *Client) Content(content []byte) string {
	c.t.Helper()
	c.Write(string(Stuff(content)))
	return c.Reply()
}

// Send sends one message to the server in a connection of its own and returns the reply that decided: to the final
// dot, or the first refusal.
func Send(t testing.TB, addr, from string, to []string, content []byte) string {
	t.Helper()
	c := Dial(t, addr)
	defer c.Conn.Close()
	lines := []string{"EHLO client.lab.test", "MAIL FROM:<" + from + ">"}
	for _, rcpt := range to {
		lines = append(lines, "RCPT TO:<"+rcpt+">")
	}
	for _, line := range append(lines, "DATA") {
		if reply := c.Do(line); reply == "" || reply[0] > '3' {
			return reply
		}
	}
	reply := c.Content(content)
	c.Do("QUIT")
	return reply
}

// Stuff doubles a dot at the start of each line and ends the content by CRLF.CRLF (RFC 5321 section 4.5.2). Lines
// end in CRLF; a lone LF or CR is content and stays.
func Stuff(content []byte) []byte {
	out := bytes.ReplaceAll(content, []byte("\r\n."), []byte("\r\n.."))
	if bytes.HasPrefix(out, []byte(".")) {
		out = append([]byte("."), out...)
	}
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\r\n")) {
		out = append(out, "\r\n"...)
	}
	return append(out, ".\r\n"...)
}

// Unstuff reverses Stuff on content whose final dot is gone.
func Unstuff(wire []byte) []byte {
	out := bytes.ReplaceAll(wire, []byte("\r\n."), []byte("\r\n"))
	return bytes.TrimPrefix(out, []byte("."))
}

// nasty are the pieces that SMTP stumbles over.
var nasty = []string{"\r\n", "\n", "\r", ".", "..", "a", "\x00", "\xff", "longer line ", "\r\n.", "\r\n..", "\n.\n", "\r.\r", "\r\r\n"}

// Nasty makes random content of n such pieces.
func Nasty(r *rand.Rand, n int) []byte {
	var out []byte
	for range n {
		out = append(out, nasty[r.IntN(len(nasty))]...)
	}
	return out
}
