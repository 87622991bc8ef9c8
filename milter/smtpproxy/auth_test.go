package smtpproxy

import (
	"strings"
	"testing"
	"time"
)

// authHop is a next hop that knows one password. What answers says goes before its own, where it says anything.
func authHop(t *testing.T, answers ...func(line string) string) *fake {
	return newFake(t, func(f *fake) {
		f.offer = []string{"PIPELINING", "AUTH GSSAPI LOGIN SCRAM-SHA-256-PLUS PLAIN"}
		f.answer = func(_ int, line string) string {
			for _, own := range answers {
				if a := own(line); a != "" {
					return a
				}
			}
			switch {
			case line == "AUTH PLAIN right", line == "right":
				return "235 2.7.0 hop says welcome"
			case line == "AUTH LOGIN", line == "user":
				return "334 hop asks"
			case strings.HasPrefix(line, "AUTH"), line == "wrong":
				return "535 5.7.8 hop says no"
			case line == "*":
				return "501 5.7.0 hop forgets it"
			case strings.HasPrefix(line, "RCPT TO:<no"):
				return "550 5.1.1 no"
			}
			return ""
		}
	})
}

func TestAuth(t *testing.T) {
	hop := authHop(t)
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true, Check: got.check, Timeouts: Timeouts{Idle: 20 * time.Millisecond}})
	c, words := hello(t, addr)
	if !strings.Contains(words, "250-AUTH LOGIN PLAIN\r\n") {
		t.Errorf("EHLO: %q", words)
	}
	for _, v := range [][]string{
		{"AUTH GSSAPI x", "504 5.5.4"},
		{"AUTH PLAIN wrong", "535 5.7.8 hop says no"},
		{"AUTH LOGIN", "334 hop asks", "user", "334 hop asks", "wrong", "535 5.7.8 hop says no"},
		{"AUTH LOGIN", "334 hop asks", "*", "501 5.7.0 hop forgets it"},
		{"AUTH LOGIN", "334 hop asks", "a\x00b", "501 5.7.0 hop forgets it"},
		{"AUTH LOGIN", "334 hop asks", "user", "334 hop asks", "right", "235 2.7.0 hop says welcome"},
		{"AUTH PLAIN right", "503"},
	} {
		for i := 0; i < len(v); i += 2 {
			c.say(v[i] + "\r\n")
			if r := c.reply(); !strings.HasPrefix(r, v[i+1]) {
				t.Errorf("%q: %q, want %q", v[i], r, v[i+1])
			}
		}
	}
	c.say("EHLO again\r\n")
	if words := c.want("250"); strings.Contains(words, "AUTH") {
		t.Errorf("EHLO: %q", words)
	}
	conns, _ := hop.counts()
	time.Sleep(60 * time.Millisecond) // the connection is not given up, unlike an idle one
	for range 2 {
		c.do("MAIL FROM:<a@b>")
		c.say("RCPT TO:<no@hop.test>\r\n")
		c.want("550")
		c.do("RCPT TO:<b@hop.test>", "RSET", "MAIL FROM:<a@b>", "RCPT TO:<b@hop.test>", "DATA")
		c.say("x\r\n.\r\n")
		c.want("250")
	}
	if n, _ := hop.counts(); n != conns || len(hop.mails()) != 2 || !got.envs[0].Authenticated {
		t.Errorf("%d connections, %d before; %+v", n, conns, got.envs)
	}
	hop.cutAll()
	c.do("MAIL FROM:<a@b>")
	c.say("RCPT TO:<b@hop.test>\r\n")
	c.want("451")
	c.say("RSET\r\n")
	c.want("250")
	c.say("MAIL FROM:<a@b>\r\n")
	c.want("421") // nobody else can authenticate
	c.wantEnd()
}

// TestAuthConnectionIsNotShared: what one client authenticated serves no other.
func TestAuthConnectionIsNotShared(t *testing.T) {
	hop := authHop(t)
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true})
	c, _ := hello(t, addr)
	c.do("AUTH PLAIN right")
	c.mail("x\r\n.\r\n")
	d, _ := hello(t, addr)
	d.mail("x\r\n.\r\n")
	c.do("QUIT")
	d.mail("x\r\n.\r\n")
	m := hop.mails()
	if len(m) != 3 || m[0].conn == m[1].conn || m[1].conn != m[2].conn {
		t.Errorf("arrived %+v", m)
	}
}

// TestAuthOffer: not in plain text but to trusted peers, and only where it is wanted; who authenticated may send to
// anybody.
func TestAuthOffer(t *testing.T) {
	server, client := certificate(t)
	hop := authHop(t)
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true, TLS: server, RecipientDomains: []string{"ours.test"}})
	c, words := hello(t, addr)
	if strings.Contains(words, "AUTH") {
		t.Errorf("EHLO: %q", words)
	}
	c.say("AUTH PLAIN right\r\n")
	c.want(string(replyNotHere))
	c.do("STARTTLS")
	s := c.encrypted(client)
	s.do("EHLO x", "MAIL FROM:<a@b>")
	s.say("RCPT TO:<a@theirs.test>\r\n")
	s.want(string(replyNoRelay))
	s.do("RSET", "AUTH PLAIN right", "MAIL FROM:<a@b>", "RCPT TO:<a@theirs.test>")
	s.say("AUTH PLAIN right\r\n")
	s.want("503")
	_, addr = start(t, Config{NextHop: hop.url()})
	if _, words = hello(t, addr); strings.Contains(words, "AUTH") {
		t.Errorf("EHLO: %q", words)
	}
}

// TestAuthNextHopGone: a next hop that hangs up amid the exchange.
func TestAuthNextHopGone(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.offer = []string{"AUTH PLAIN"}
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "AUTH") {
				return hangUp
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true})
	c, _ := hello(t, addr)
	c.say("AUTH PLAIN right\r\n")
	c.want(string(replyNoNextHop))
	c.wantEnd()
}

// TestAuthAnswersStayTheirOwn: a connection on which the answers of a broken transaction may still come serves no other one,
// whose recipients they would be taken for.
func TestAuthAnswersStayTheirOwn(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.offer = []string{"PIPELINING", "AUTH PLAIN"}
		f.answer = func(_ int, line string) string {
			switch {
			case line == "AUTH PLAIN right":
				return "235 2.7.0 welcome"
			case strings.HasPrefix(line, "RCPT TO:<odd"):
				return garbage
			case strings.HasPrefix(line, "RCPT TO:<no"):
				return "550 5.1.1 no"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true})
	c, _ := hello(t, addr)
	c.do("AUTH PLAIN right")
	c.say("MAIL FROM:<a@b>\r\nRCPT TO:<odd@x>\r\nRCPT TO:<b@x>\r\nRSET\r\n")
	c.want("250")
	c.want(string(replyNextHop))
	c.want(string(replyNextHop))
	c.want("250")
	c.say("MAIL FROM:<a@b>\r\nRCPT TO:<c@x>\r\nRCPT TO:<no@x>\r\n")
	c.want(string(replyNoNextHop))
	c.wantEnd()
}
