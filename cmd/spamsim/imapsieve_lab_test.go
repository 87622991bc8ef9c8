package main_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// An imap is a user's connection to Dovecot.
type imap struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	n    int
}

// login connects as the user.
func login(t *testing.T, addr string) *imap {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &imap{t: t, conn: conn, r: bufio.NewReader(conn)}
	c.line()
	c.do("LOGIN user secret")
	return c
}

func (c *imap) line() string {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(lab.Patience))
	line, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimRight(line, "\r\n")
}

// do sends a command and returns what came before its OK.
func (c *imap) do(command string) []string {
	c.t.Helper()
	c.n++
	tag := fmt.Sprint("a", c.n, " ")
	fmt.Fprintf(c.conn, "%s%s\r\n", tag, command)
	var lines []string
	for {
		line := c.line()
		if rest, ok := strings.CutPrefix(line, tag); ok {
			if !strings.HasPrefix(rest, "OK") {
				c.t.Fatalf("%s: %s", command, line)
			}
			return lines
		}
		lines = append(lines, line)
	}
}

// TestImapsieve: a message that a user moves into Junk is learnt as spam; one that he takes out of it, as good mail; one
// that he throws away from there, not at all.
func TestImapsieve(t *testing.T) {
	t.Parallel()
	c := newDovecot(t)
	stream := demo.Stream(7)
	var one, two demo.Mail
	for _, m := range stream {
		switch m.Kind {
		case demo.Pills:
			one = m
		case demo.Unrelated:
			two = m
		}
	}
	c.send(t, one)
	c.send(t, two)
	user := login(t, c.imap)
	user.do("CREATE Trash")
	user.do("CREATE Junk")
	user.do("SELECT INBOX")

	user.do("MOVE 1 Junk")
	if got := c.label(t, one); got != "spam" {
		t.Errorf("moved into Junk: labelled %s", got)
	}
	user.do("MOVE 1 Junk")
	user.do("SELECT Junk")
	user.do("MOVE 2 Trash")
	if got := c.label(t, two); got != "spam" {
		t.Errorf("moved into Junk, and thrown away from there: labelled %s", got)
	}
	user.do("MOVE 1 INBOX")
	if got := c.label(t, one); got != "ham" {
		t.Errorf("taken out of Junk: labelled %s", got)
	}
}

// label is what the store knows of a message by its likeness to others.
func (c *dovecot) label(t *testing.T, m demo.Mail) string {
	t.Helper()
	file := "/tmp/message.eml"
	c.cell.Write(file, string(m.Raw))
	out := c.cell.Run(t, c.cell.Command("/usr/bin/spamsim", "check", "--json", "--quiet", file))
	_, rest, _ := strings.Cut(out, `"label":"`)
	label, _, _ := strings.Cut(rest, `"`)
	if label == "" {
		t.Errorf("check says %s", out)
	}
	return label
}
