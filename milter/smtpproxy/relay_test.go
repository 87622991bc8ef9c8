package smtpproxy

import (
	"slices"
	"strings"
	"testing"

	"spamsim/milter/filter"
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

// TestFields: the judgement's fields are on top, those of the same name are gone, all else is as it was.
func TestFields(t *testing.T) {
	hop := newFake(t, nil)
	j := judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " bulk;\n\tid=x"}}, Strip: []string{"X-Spamsim"}}
	_, addr := start(t, Config{NextHop: hop.url(), Check: judging(j), MaxJudged: 5000, Pass: func(*envelope, filter.Kind, string) judgement { return j }})
	c, _ := hello(t, addr)
	const field = "X-Spamsim: bulk;\r\n\tid=x\r\n"
	body := strings.Repeat("X-Spamsim: quoted\r\n\r\n", 500) // over MaxJudged
	for _, v := range []struct{ sent, want string }{
		{"Subject: x\r\n\r\nbody\r\n", "Subject: x\r\n\r\nbody\r\n"},
		{"A: 1\r\nx-SPAMSIM: clean;\r\n forged\r\nB: 2\r\n\r\nX-Spamsim: body\r\n", "A: 1\r\nB: 2\r\n\r\nX-Spamsim: body\r\n"},
		{"\r\nX-Spamsim: body\r\n", "\r\nX-Spamsim: body\r\n"},
		{"no header\r\n", "\r\nno header\r\n"},
		{"Subject: x\r\n", "Subject: x\r\n"},
		{"X-Spamsim: forged\r\nA: 1\r\n\r\n" + body, "A: 1\r\n\r\n" + body},
	} {
		if r := c.mail(stuff(v.sent)); !strings.HasPrefix(r, "250 ") {
			t.Errorf("answer: %q", r)
		}
		mails := hop.mails()
		if got := string(mails[len(mails)-1].content); got != field+v.want {
			t.Errorf("%.60q: arrived %.200q", v.sent, got)
		}
	}
}
