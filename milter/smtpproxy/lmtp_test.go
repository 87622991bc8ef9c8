package smtpproxy

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"spamsim/milter/filter"
)

// TestLMTP: one answer cannot speak for two recipients, so an SMTP client gets one at a time.
func TestLMTP(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.lmtp = true
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT TO:<no") {
				return "550 5.1.1 no"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.say("MAIL FROM:<a@client.test>\r\nRCPT TO:<no@hop.test>\r\nRCPT TO:<b@hop.test>\r\nRCPT TO:<c@hop.test>\r\nDATA\r\n")
	c.want("250")
	c.want("550 5.1.1 no")
	c.want("250")
	c.want(string(replyOneAtATime))
	c.want("354")
	c.say(stuff(small))
	c.want("250 2.0.0 Ok: queued")
	for range 2 {
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>")
		c.say("RCPT TO:<c@hop.test>\r\n")
		c.want("452 4.5.3")
		c.do("DATA")
		c.say(stuff(small))
		c.want("250 2.0.0 Ok: queued")
	}
	mails := hop.mails()
	if len(mails) != 3 || !strings.HasPrefix(hop.lines()[0], "LHLO ") {
		t.Fatalf("arrived %+v, said %q", mails, hop.lines())
	}
	for _, m := range mails {
		if !slices.Equal(m.envelope, []string{"MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>"}) || string(m.content) != small {
			t.Errorf("arrived %+v", m)
		}
	}
}

// lmtp connects as an LMTP client.
func lmtp(t *testing.T, addr string) *talk {
	t.Helper()
	c := dialTalk(t, addr)
	c.want("220 proxy.test LMTP")
	c.say("EHLO client.test\r\n")
	c.want("500")
	c.say("LHLO client.test\r\n")
	if words := c.want("250-proxy.test\r\n"); !strings.Contains(words, "8BITMIME") {
		t.Errorf("LHLO: %q", words)
	}
	return c
}

// TestLMTPClient: each recipient that was accepted has its own answer, whoever is the next hop.
func TestLMTPClient(t *testing.T) {
	refuse := func(f *fake) {
		n := 0
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT TO:<no") {
				return "550 5.1.1 no"
			}
			if line == "." && f.lmtp {
				n++
				return []string{"", "250 2.0.0 first", "452 4.2.2 second is full", "250 2.0.0 third"}[n]
			}
			return ""
		}
	}
	rcpts := []string{"RCPT TO:<a@x>", "RCPT TO:<a@x>", "RCPT TO:<b@x>"}
	for name, c := range map[string]struct {
		lmtp bool
		want []string
	}{
		"LMTP": {true, []string{"250 2.0.0 first", "452 4.2.2 second is full", "250 2.0.0 third"}},
		"SMTP": {false, []string{"250 2.0.0 Ok: queued", "250 2.0.0 Ok: queued", "250 2.0.0 Ok: queued"}},
	} {
		t.Run(name, func(t *testing.T) {
			hop := newFake(t, func(f *fake) { f.lmtp = c.lmtp; refuse(f) })
			_, addr := start(t, Config{NextHop: hop.url(), LMTP: true})
			client := lmtp(t, addr)
			client.do("MAIL FROM:<a@b>")
			client.say("RCPT TO:<no@x>\r\n")
			client.want("550")
			client.do(rcpts...)
			client.do("DATA")
			client.say(stuff(small) + "NOOP\r\n")
			for _, want := range c.want {
				client.want(want)
			}
			client.want("250 2.0.0 I have")
		})
	}
}

// TestLMTPClientRefused: a refusal is said once to each recipient, and once to DATA where there is none.
func TestLMTPClientRefused(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), LMTP: true, Check: judging(judgement{Action: filter.Reject})})
	c := lmtp(t, addr)
	c.do("MAIL FROM:<a@b>", "RCPT TO:<a@x>", "RCPT TO:<b@x>", "DATA")
	c.say(stuff(small))
	c.want(string(replyRejected))
	c.want(string(replyRejected))
	c.do("MAIL FROM:<a@b>", "RSET", "NOOP")
	if len(hop.mails()) != 0 {
		t.Errorf("arrived %+v", hop.mails())
	}
}

// TestLMTPAnswersCut: the recipients that were answered have their mail, the others come back.
func TestLMTPAnswersCut(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		var n atomic.Int32 // two connections ask
		f.lmtp = true
		f.answer = func(_ int, line string) string {
			if line != "." {
				return ""
			}
			return []string{"", "250 2.0.0 first", hangUp, "250 2.0.0 next"}[n.Add(1)]
		}
	})
	_, addr := start(t, Config{NextHop: hop.url(), LMTP: true})
	c := lmtp(t, addr)
	c.do("MAIL FROM:<a@b>", "RCPT TO:<a@x>", "RCPT TO:<b@x>", "RCPT TO:<c@x>", "DATA")
	c.say(stuff(small))
	c.want("250 2.0.0 first")
	c.want(string(replyNextHop))
	c.want(string(replyNextHop))
	c.do("MAIL FROM:<a@b>", "RCPT TO:<a@x>", "DATA")
	c.say(stuff(small))
	c.want("250 2.0.0 next")
}

// TestLMTPAnswers421: a recipient whose mail the next hop took hears so, whatever another one is told: else it gets it twice.
func TestLMTPAnswers421(t *testing.T) {
	for _, answers := range []string{"421 4.3.0 first later\n250 2.0.0 second", "250 2.0.0 first\n421 4.3.0 second later"} {
		hop := newFake(t, func(f *fake) {
			f.lmtp = true
			f.answer = func(_ int, line string) string {
				if line == "." {
					return answers
				}
				return ""
			}
		})
		_, addr := start(t, Config{NextHop: hop.url(), LMTP: true})
		c := lmtp(t, addr)
		c.do("MAIL FROM:<a@b>", "RCPT TO:<a@x>", "RCPT TO:<b@x>", "DATA")
		c.say(stuff(small))
		for want := range strings.SplitSeq(answers, "\n") {
			c.want(want)
		}
		c.wantEnd()
	}
}

// TestDoorName: the envelope and every line of the log call the door by its clients' protocol.
func TestDoorName(t *testing.T) {
	for lmtpClients, want := range map[bool]string{false: "smtp", true: "lmtp"} {
		hop := newFake(t, nil)
		var log bytes.Buffer
		var got captured
		s, addr := start(t, Config{NextHop: hop.url(), LMTP: lmtpClients, Check: got.check, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c := dialTalk(t, addr)
		c.want("220")
		c.do(map[bool]string{false: "EHLO x", true: "LHLO x"}[lmtpClients])
		c.mail(stuff(small))
		hop.stop()
		c.do("MAIL FROM:<a@client.test>")
		c.say("RCPT TO:<b@hop.test>\r\n")
		c.want("451")
		_ = s.Close()
		if got.envs[0].Door != want || strings.Count(log.String(), " door="+want+" ") != 2 || strings.Count(log.String(), "door=") != 2 {
			t.Errorf("envelope %q, log:\n%s", got.envs[0].Door, &log)
		}
	}
}
