package smtpproxy

import (
	"slices"
	"strings"
	"testing"
)

func TestRelay(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	c, words := hello(t, addr)
	want := "250-proxy.test\r\n250-PIPELINING\r\n250-SIZE 104857600\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n" +
		"250-SMTPUTF8\r\n250-DSN\r\n250 XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE\r\n"
	if words != want {
		t.Errorf("EHLO:\n%s\nwant\n%s", words, want)
	}
	content := "Subject: x\r\n\r\n.dot\r\n..\r\nlast\r\n"
	if got := c.mail(stuff(content)); got != "250 2.0.0 Ok: queued as 1\r\n" {
		t.Errorf("answer: %q", got)
	}
	if got := c.mail(stuff(content)); got != "250 2.0.0 Ok: queued as 1\r\n" {
		t.Errorf("second answer: %q", got)
	}
	c.say("QUIT\r\n")
	c.want("221")
	c.wantEnd()
	mails := hop.mails()
	if len(mails) != 2 || string(mails[0].content) != content || string(mails[1].content) != content {
		t.Errorf("arrived: %+v", mails)
	}
	if want := []string{"MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>"}; !slices.Equal(mails[0].envelope, want) {
		t.Errorf("envelope: %q", mails[0].envelope)
	}
	if said := strings.Join(hop.lines(), "|"); said != "EHLO proxy.test|MAIL FROM:<a@client.test>|RCPT TO:<b@hop.test>|DATA|"+
		"MAIL FROM:<a@client.test>|RCPT TO:<b@hop.test>|DATA" {
		t.Errorf("said: %s", said)
	}
}
