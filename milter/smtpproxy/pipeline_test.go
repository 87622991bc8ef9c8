package smtpproxy

import (
	"strings"
	"testing"
	"time"
)

// TestPipelined: what the client sends in a row goes on in a row, and every answer is the next hop's own, that to MAIL
// too.
func TestPipelined(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			switch {
			case strings.HasPrefix(line, "MAIL"):
				return "250 2.1.0 hop's mail"
			case strings.HasPrefix(line, "RCPT TO:<no"):
				return "550 5.1.1 hop's no"
			case strings.HasPrefix(line, "RCPT"):
				return "250-2.1.5 hop's\n250 2.1.5 rcpt"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c := dialTalk(t, addr)
	c.want("220")
	c.say("EHLO client.test\r\nMAIL FROM:<a@b>\r\nRCPT TO:<no@b>\r\nRCPT TO:<c@d>\r\nNOOP\r\nDATA\r\n")
	c.want("250")
	for _, want := range []string{"250 2.1.0 hop's mail\r\n", "550 5.1.1 hop's no\r\n", "250-2.1.5 hop's\r\n250 2.1.5 rcpt\r\n"} {
		if r := c.reply(); r != want {
			t.Errorf("got %q, want %q", r, want)
		}
	}
	c.want("250")
	c.want("354")
	c.say("one\r\n.\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n")
	c.want("250 2.0.0 Ok: queued")
	c.want("250")
	c.want("250")
	c.want("354")
	c.say("two\r\n.\r\nRSET\r\nQUIT\r\nMAIL FROM:<behind@quit>\r\nRCPT TO:<c@d>\r\nDATA\r\nthree\r\n.\r\n")
	c.want("250 2.0.0 Ok: queued")
	c.want("250")
	c.want("221")
	c.wantEnd()
	if m := hop.mails(); len(m) != 2 || string(m[0].content) != "one\r\n" || string(m[1].content) != "two\r\n" {
		t.Errorf("arrived: %+v", m)
	}
	if n := hop.inRow(); n != 3 { // MAIL RCPT RCPT, MAIL RCPT
		t.Errorf("%d commands came in a row", n)
	}
	for _, l := range hop.lines() {
		if strings.Contains(l, "behind@quit") {
			t.Errorf("what came behind QUIT was heard: %q", l)
		}
	}
}

// TestMailRefused: MAIL that was answered ahead and then refused is what each recipient is told; one that was not
// answered ahead is told at once.
func TestMailRefused(t *testing.T) {
	const no = "553 5.1.8 hop's no\r\n"
	refuse := func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "MAIL FROM:<no") {
				return strings.TrimSpace(no)
			}
			return ""
		}
	}
	t.Run("ahead", func(t *testing.T) {
		hop := newFake(t, refuse)
		_, addr := start(t, Config{NextHop: hop.url()})
		c, _ := hello(t, addr)
		c.do("MAIL FROM:<no@x>")
		for range 2 {
			c.say("RCPT TO:<b@hop.test>\r\n")
			if r := c.reply(); r != no {
				t.Errorf("RCPT: %q", r)
			}
		}
		c.say("DATA\r\n")
		c.want(string(replyNoRcpts))
		if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Errorf("the next message: %q", r)
		}
	})
	t.Run("pipelined", func(t *testing.T) {
		hop := newFake(t, refuse)
		_, addr := start(t, Config{NextHop: hop.url()})
		c, _ := hello(t, addr)
		c.say("MAIL FROM:<no@x>\r\nRCPT TO:<b@hop.test>\r\nDATA\r\n")
		if r := c.reply(); r != no {
			t.Errorf("MAIL: %q", r)
		}
		c.want("250") // the fake takes RCPT without MAIL: its own answer
		c.want("354")
		c.say(".\r\n")
		c.reply()
	})
	t.Run("not pipelining", func(t *testing.T) {
		hop := newFake(t, func(f *fake) {
			refuse(f)
			f.offer = []string{"8BITMIME"}
		})
		_, addr := start(t, Config{NextHop: hop.url()})
		c, _ := hello(t, addr)
		c.say("MAIL FROM:<no@x>\r\n")
		if r := c.reply(); r != no {
			t.Errorf("MAIL: %q", r)
		}
		c.say("RCPT TO:<b@hop.test>\r\n")
		c.want("5")
		if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Errorf("the next message: %q", r)
		}
	})
}

// TestNotPipelining: a next hop that does not pipeline gets one command at a time.
func TestNotPipelining(t *testing.T) {
	hop := newFake(t, func(f *fake) { f.offer = []string{"8BITMIME"} })
	_, addr := start(t, Config{NextHop: hop.url()})
	c, words := hello(t, addr)
	if !strings.Contains(words, "PIPELINING") {
		t.Errorf("EHLO: %q", words)
	}
	c.say("MAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nRCPT TO:<e@f>\r\nDATA\r\n")
	c.want("250")
	c.want("250")
	c.want("250")
	c.want("354")
	c.say("x\r\n.\r\n")
	c.want("250")
	if n := hop.inRow(); n > 0 || len(hop.mails()) != 1 {
		t.Errorf("%d commands came in a row, %d messages", n, len(hop.mails()))
	}
}

// TestNoDelivery: transactions that end without DATA (Postfix sends QUIT alone after its client's RSET).
func TestNoDelivery(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<>", "RCPT TO:<a@b>", "RSET", "MAIL FROM:<>", "RCPT TO:<a@b>", "EHLO again", "MAIL FROM:<>", "RSET", "MAIL FROM:<>",
		"RCPT TO:<a@b>", "QUIT")
	c.wantEnd()
	d, _ := hello(t, addr)
	d.do("MAIL FROM:<>", "RCPT TO:<a@b>")
	d.Close()
	eventually(t, "the next hop is told", func() bool { return strings.Count(strings.Join(hop.lines(), "|"), "QUIT") == 4 })
	if n, cut := hop.counts(); len(hop.mails()) != 0 || cut != 0 || n > 5 {
		t.Errorf("%d messages, %d cut, %d connections", len(hop.mails()), cut, n)
	}
	if strings.Contains(strings.Join(hop.lines(), "|"), "DATA") {
		t.Errorf("said: %q", hop.lines())
	}
}

// TestEarlyContent: where DATA is refused, what a client sent behind it without waiting is not taken for commands.
func TestEarlyContent(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT TO:<no") {
				return "550 5.1.1 no"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.say("MAIL FROM:<a@b>\r\nRCPT TO:<no@b>\r\nDATA\r\nMAIL FROM:<evil@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nx\r\n.\r\n")
	c.want("250")
	c.want("550")
	c.want(string(replyNoRcpts))
	c.wantEnd()
	if len(hop.mails()) != 0 || strings.Contains(strings.Join(hop.lines(), "|"), "evil") {
		t.Errorf("said: %q", hop.lines())
	}
}

// TestEarlyContentWithoutRecipient: nor is it where DATA is out of order.
func TestEarlyContentWithoutRecipient(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	for _, first := range []string{"", "MAIL FROM:<a@b>\r\n", "MAIL FROM:<a@b>\r\nRCPT TO:<\r\n", "MAIL FROM:<a@b> SIZE=x\r\nRCPT TO:<a@b>\r\n"} {
		c, _ := hello(t, addr)
		c.say(first + "DATA\r\nRSET\r\nMAIL FROM:<evil@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nx\r\n.\r\n")
		for range strings.Count(first, "\n") {
			c.reply()
		}
		c.want("502 5.5.1")
		c.wantEnd()
	}
	if len(hop.mails()) != 0 || strings.Contains(strings.Join(hop.lines(), "|"), "evil") {
		t.Errorf("said: %q", hop.lines())
	}
}

// TestChunking: BDAT is not offered; a chunk is skipped, whole or cut, and nothing in it is heard.
func TestChunking(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	c, words := hello(t, addr)
	if strings.Contains(words, "CHUNKING") {
		t.Errorf("EHLO: %q", words)
	}
	c.do("MAIL FROM:<a@b>", "RCPT TO:<c@d>")
	const evil = "DATA\r\nx\r\n.\r\n"
	c.say("BDAT 12 LAST\r\n" + evil)
	c.want("502 5.5.1")
	c.say("BDAT 1000 LAST\r\n" + evil)
	c.Close()
	d, _ := hello(t, addr)
	d.do("MAIL FROM:<a@b>", "RCPT TO:<c@d>")
	d.say("BDAT 99999999999999 LAST\r\n" + evil)
	d.want("502 5.5.1")
	d.wantEnd()
	_, addr = start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Data: 100 * time.Millisecond}})
	e, _ := hello(t, addr)
	e.do("MAIL FROM:<a@b>", "RCPT TO:<c@d>")
	e.say("BDAT 1000 LAST\r\nSubject: x\r\n")
	e.want("502 5.5.1")
	e.say(evil)
	e.wantEnd()
	if len(hop.mails()) != 0 {
		t.Errorf("arrived: %+v", hop.mails())
	}
}
