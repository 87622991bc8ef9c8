package smtpproxy

import (
	"strings"
	"testing"
)

// TestInjection: nothing that a client says in a command becomes a command of its own at the next hop, or a line of the message.
// What the line is, the next hop hears whole or not at all.
func TestInjection(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	for _, line := range []string{
		"EHLO x\rMAIL FROM:<evil@x>", "EHLO x\x00y", "MAIL FROM:<a@b>\rRCPT TO:<evil@x>", "MAIL FROM:<a\x00@b>", "MAIL FROM:<a@b> AUTH=x\rDATA",
		"MAIL FROM:<\"a\rX-Evil: 1\"@b>", "RCPT TO:<c@d>\r.\rMAIL FROM:<evil@x>", "RCPT TO:<c\x7f@d>", "XFORWARD NAME=a+0D+0AMAIL+20FROM:<evil@x>",
		"XFORWARD HELO=a+00evil", "XFORWARD ADDR=192.0.2.1+0AX-Evil:+201", "VRFY a\rRCPT TO:<evil@x>",
	} {
		c, _ := hello(t, addr)
		if !strings.HasPrefix(line, "MAIL") && !strings.HasPrefix(line, "EHLO") && !strings.HasPrefix(line, "XFORWARD") {
			c.do("MAIL FROM:<a@client.test>")
		}
		c.say(line + "\r\n")
		if reply := c.reply(); reply == "" || reply[0] != '5' {
			t.Errorf("%q: %q", line, reply)
		}
		if strings.HasPrefix(line, "RCPT") || strings.HasPrefix(line, "VRFY") {
			c.do("RCPT TO:<b@hop.test>", "DATA")
			c.say("x\r\n.\r\n")
			c.want("250")
		} else if reply := c.mail("x\r\n.\r\n"); !strings.HasPrefix(reply, "250") {
			t.Errorf("a message after %q: %q", line, reply)
		}
		c.Close()
	}
	for _, heard := range hop.lines() {
		if strings.Contains(heard, "evil") || strings.ContainsAny(heard, "\r\x00\x7f") {
			t.Errorf("the next hop heard %q", heard)
		}
	}
	if n := len(hop.mails()); n != 12 {
		t.Errorf("%d messages were delivered", n)
	}
	for _, m := range hop.mails() {
		if got := string(m.content); got != "x\r\n" {
			t.Errorf("delivered %q", got)
		}
	}
}
