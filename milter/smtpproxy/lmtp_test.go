package smtpproxy

import (
	"slices"
	"strings"
	"testing"
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
