package smtpproxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// captured is a Check that keeps the envelopes.
type captured struct {
	mu   sync.Mutex
	envs []envelope
	raws []string
}

func (k *captured) check(_ context.Context, env *envelope, raw []byte) judgement {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.envs = append(k.envs, *env)
	k.raws = append(k.raws, string(raw))
	return judgement{}
}

// TestLinesVerbatim: every MAIL and RCPT line reaches the next hop as the client sent it, whatever was offered.
func TestLinesVerbatim(t *testing.T) {
	hop := newFake(t, func(f *fake) { f.offer = []string{"XFORWARD NAME ADDR"} })
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), Check: got.check})
	c, _ := hello(t, addr)
	for _, v := range []struct {
		lines  []string
		sender string
		to     []string
	}{
		{[]string{ // as Postfix's smtpd_proxy_filter sends them
			"MAIL FROM:<bob@example.org> SIZE=2000 BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=abc+3Ddef",
			"RCPT TO:<a@lab.test> NOTIFY=FAILURE,DELAY ORCPT=rfc822;orig@lab.test",
		}, "bob@example.org", []string{"a@lab.test"}},
		{[]string{"MAIL FROM:<>", "RCPT TO:<b@lab.test>"}, "", []string{"b@lab.test"}},
		{[]string{`mail from:<"a> NOTIFY=NEVER"@x.test>`, `rcpt to:<"quoted @ > \" local"@lab.test>`},
			`"a> NOTIFY=NEVER"@x.test`, []string{`"quoted @ > \" local"@lab.test`}},
		{[]string{"MAIL FROM:<@a.test,@b.test:c@d.test>", "RCPT TO:<@e.test:f@g.test>"}, "c@d.test", []string{"f@g.test"}},
		{[]string{"MAIL FROM:<пользователь@пример.рф> SMTPUTF8", "RCPT TO:<δ@παράδειγμα.gr> ORCPT=utf-8;\\x{3B4}@x"},
			"пользователь@пример.рф", []string{"δ@παράδειγμα.gr"}},
		{[]string{"MAIL FROM:<a@b> AUTH=<> BY=120;R MT-PRIORITY=3 X-NEW=1 SIZE=99999999999", "RCPT TO:<Postmaster> ORCPT=x400;what X=y"},
			"a@b", []string{"Postmaster"}},
		{[]string{"MAIL FROM: <a@b>  BODY=7BIT", "RCPT TO: c@d NOTIFY=NEVER"}, "a@b", []string{"c@d"}},
	} {
		hop.mu.Lock()
		hop.kept = nil
		hop.mu.Unlock()
		got.envs = nil
		c.do(v.lines...)
		c.do("DATA")
		c.say("x\r\n.\r\n")
		c.want("250")
		if m := hop.mails(); len(m) != 1 || !slices.Equal(m[0].envelope, v.lines) {
			t.Errorf("at the next hop: %+v, want %q", m, v.lines)
		}
		if len(got.envs) != 1 || got.envs[0].Sender != v.sender || !slices.Equal(got.envs[0].Recipients, v.to) {
			t.Errorf("envelope: %+v, want %q to %q", got.envs, v.sender, v.to)
		}
	}
}

func TestSyntax(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), MaxMessage: 1000})
	c, _ := hello(t, addr)
	for _, v := range []struct{ say, want string }{
		{"RCPT TO:<a@b>", "502 5.5.1"},
		{"DATA", "502 5.5.1"},
		{"MAIL", "501 5.5.4"},
		{"MAIL TO:<a@b>", "501 5.5.4"},
		{"MAIL FROM:<a@b", "501 5.5.4"},
		{"MAIL FROM:", "501 5.5.4"},
		{"MAIL FROM:<a\x00@b>", "500 5.5.2"},
		{"MAIL FROM:<a\r@b>", "500 5.5.2"},
		{"MAIL FROM:<a@b> SIZE=x", "501 5.5.4"},
		{"MAIL FROM:<a@b> SIZE=1001", "552 5.3.4"},
		{"MAIL FROM:<a@b> SIZE=1000", "250 2.1.0"},
		{"MAIL FROM:<c@d>", "503 5.5.1"},
		{"RCPT TO:", "501 5.5.4"},
		{"RCPT TO:<a@b\r> NOTIFY=NEVER", "500 5.5.2"},
		{"XFORWARD ADDR=192.0.2.1", "503 5.5.1"},
		{"NOOP", "250"},
		{"VRFY x", "252"},
		{"HELP", "502"},
		{"RSET", "250"},
		{"EHLO", "501"},
	} {
		c.say(v.say + "\r\n")
		if r := c.reply(); !strings.HasPrefix(r, v.want) {
			t.Errorf("%q: %q, want %s", v.say, r, v.want)
		}
	}
	if said := hop.lines(); !slices.Equal(said, []string{"EHLO proxy.test"}) {
		t.Errorf("the next hop heard %q", said)
	}
}

func TestBeforeHello(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	c := dialTalk(t, addr)
	c.want("220 proxy.test ESMTP")
	c.say("MAIL FROM:<a@b>\r\n")
	c.want("502")
	c.say("HELO client.test\r\n")
	c.want("250 ")
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
}

// TestManyRecipients: 1,500 of them, of which every tenth is refused, in lock step and pipelined.
func TestManyRecipients(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT") && strings.Contains(line, "0@") {
				return "550 5.1.1 " + line
			}
			return ""
		}
	})
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), Check: got.check})
	c, _ := hello(t, addr)
	const n = 1500
	line := func(i int) string { return fmt.Sprintf("RCPT TO:<r%d@hop.test>", i) }
	check := func(i int) {
		if r := c.reply(); i%10 == 0 && r != "550 5.1.1 "+line(i)+"\r\n" || i%10 != 0 && r != "250 2.0.0 Ok\r\n" {
			t.Fatalf("recipient %d: %q", i, r)
		}
	}
	c.do("MAIL FROM:<a@b>")
	for i := range n {
		c.say(line(i) + "\r\n")
		check(i)
	}
	c.do("DATA")
	c.say("x\r\n.\r\n")
	c.want("250")

	var all strings.Builder
	all.WriteString("MAIL FROM:<a@b>\r\n")
	for i := range n {
		all.WriteString(line(i) + "\r\n")
	}
	go c.say(all.String() + "DATA\r\n")
	c.want("250")
	for i := range n {
		check(i)
	}
	c.want("354")
	c.say("x\r\n.\r\n")
	c.want("250")
	mails := hop.mails()
	if len(mails) != 2 || len(mails[0].envelope) != 1+n*9/10 || !slices.Equal(mails[0].envelope, mails[1].envelope) {
		t.Errorf("%d messages", len(mails))
	}
	if len(got.envs) != 2 || len(got.envs[1].Recipients) != n*9/10 {
		t.Errorf("%d envelopes", len(got.envs))
	}
}

func TestTooManyRecipients(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@b>")
	go c.say(strings.Repeat("RCPT TO:<r@hop.test>\r\n", maxRecipients+1))
	for range maxRecipients {
		c.want("250")
	}
	c.want("452 4.5.3")
}

// TestLongRecipients: what is kept of a transaction's commands is bounded, whatever the next hop says to them.
func TestLongRecipients(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT") {
				return "550 5.1.1 unknown"
			}
			return ""
		}
	})
	line := "RCPT TO:<r@hop.test> X=" + strings.Repeat("x", 10_000) + "\r\n"
	for most, conf := range map[int]Config{maxRcptOctets: {RecipientDomains: []string{"hop.test"}}, maxTrustedOctets: {Trusted: loopback}} {
		conf.NextHop = hop.url()
		_, addr := start(t, conf)
		c, _ := hello(t, addr)
		c.do("MAIL FROM:<a@b>")
		for range most/len(line) + 1 {
			c.say(line)
			c.want("550")
		}
		c.say(line)
		c.want("452 4.5.3")
	}
}

// TestXforward: taken from trusted peers, told to the filter, and passed on right before MAIL with the attributes that
// the next hop takes; gone with the transaction.
func TestXforward(t *testing.T) {
	hop := newFake(t, func(f *fake) { f.offer = []string{"PIPELINING", "XFORWARD NAME ADDR HELO IDENT"} })
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), Check: got.check})
	c, words := hello(t, addr)
	if !strings.Contains(words, "XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE\r\n") {
		t.Errorf("EHLO: %q", words)
	}
	c.do("XFORWARD NAME=spike.test addr=192.0.2.7 PORT=4242", "XFORWARD PROTO=ESMTP HELO=cli+2Bent.test IDENT=ED8A426E SOURCE=REMOTE")
	c.mail("x\r\n.\r\n")
	c.do("XFORWARD NAME=[UNAVAILABLE] ADDR=IPv6:2001:db8::1 IDENT=[unavailable]")
	c.mail("x\r\n.\r\n")
	c.mail("x\r\n.\r\n")
	c.do("XFORWARD ADDR=192.0.2.9", "RSET")
	c.mail("x\r\n.\r\n")
	plain := []string{"MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA"}
	want := slices.Concat([]string{"EHLO proxy.test"},
		[]string{"XFORWARD NAME=spike.test ADDR=192.0.2.7 HELO=cli+2Bent.test IDENT=ED8A426E"}, plain,
		[]string{"XFORWARD NAME=[UNAVAILABLE] ADDR=IPv6:2001:db8::1 IDENT=[unavailable]"}, plain, plain, plain)
	if said := hop.lines(); !slices.Equal(said, want) {
		t.Errorf("said:\n%s\nwant:\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	for i, w := range []struct{ addr, helo, id string }{
		{"192.0.2.7", "cli+ent.test", "ED8A426E"}, {"2001:db8::1", "", ""}, {"127.0.0.1", "client.test", ""}, {"127.0.0.1", "client.test", ""},
	} {
		if e := got.envs[i]; e.ClientAddr != w.addr || e.Helo != w.helo || e.QueueID != w.id || e.Door != "smtp" {
			t.Errorf("envelope %d: %+v, want %+v", i, e, w)
		}
	}
}

// TestXforwardRefused: a next hop that refuses the command gets the mail all the same.
func TestXforwardRefused(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "XFORWARD") {
				return "550 5.7.0 not you"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.do("XFORWARD ADDR=192.0.2.7")
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
}

func TestXforwardSyntax(t *testing.T) {
	for _, bad := range []string{"", "ADDR", "LOGIN=x", "ADDR=a NAME=" + strings.Repeat("x", 256), "NAME=a+0Ab", "NAME=\u00e9"} {
		if x, ok := parseForward(bad); ok {
			t.Errorf("%q: %v", bad, x)
		}
	}
	x, ok := parseForward("name=a+3Db+zz+ ADDR=1 NAME=c")
	if !ok || x.get("NAME") != "c" || x.get("ADDR") != "1" || x.get("HELO") != "" {
		t.Errorf("%v, %v", x, ok)
	}
	if got := xtext("a+3Db+zz+"); got != "a=b+zz+" {
		t.Errorf("xtext: %q", got)
	}
	long := xforward{{"NAME", strings.Repeat("n", 255)}, {"HELO", strings.Repeat("h", 255)}, {"ADDR", "1"}}
	for _, l := range long.lines("XFORWARD", forwardNames) {
		if len(l)+2 > maxForwardLine {
			t.Errorf("line of %d octets", len(l))
		}
	}
	if got := len(long.lines("XFORWARD", forwardNames)); got != 2 {
		t.Errorf("%d lines", got)
	}
	if got := long.lines("XFORWARD", []string{"PORT"}); got != nil {
		t.Errorf("nothing to pass on: %q", got)
	}
}

// FuzzCommand: whatever a line is, what is taken out of it was in it, and parsing it again says the same.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"MAIL FROM:<a@b> SIZE=1", `MAIL FROM:<"a>\""@b>`, "MAIL FROM:<@a:b@c>", "mail from: x y", "MAIL FROM:<<>>",
		`MAIL FROM:<@a":b>"@c>`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		cmd := parseCommand(line)
		addr, params, ok := cmd.path("FROM:")
		if !ok {
			return
		}
		if !strings.Contains(cmd.line, addr) || !strings.HasSuffix(strings.TrimSpace(cmd.line), strings.TrimSpace(params)) {
			t.Errorf("%q: %q %q", line, addr, params)
		}
		again := command{args: "FROM:<" + addr + ">"}
		if got, _, ok := again.path("FROM:"); ok && strings.HasPrefix(cmd.args[5:], "<") && !strings.HasPrefix(addr, "@") && got != addr {
			t.Errorf("%q: %q, then %q", line, addr, got)
		}
		if n, ok := size(params); ok && n < 0 {
			t.Errorf("%q: size %d", line, n)
		}
		if d := domain(addr); strings.Contains(d, "@") {
			t.Errorf("%q: domain %q", line, d)
		}
	})
}
