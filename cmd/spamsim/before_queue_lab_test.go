package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter"
)

// A before is the daemon as smtpd_proxy_filter of a real Postfix, with a sink in the place of the re-injection listener,
// so that what the filter says to its next hop is seen line by line.
type before struct {
	*chain
	sink *lab.Sink
}

// newBefore starts one; options are those of Postfix's clients' listener.
func newBefore(t *testing.T, sink lab.SinkConfig, options ...string) *before {
	t.Helper()
	lab.Need(t, "postfix")
	filter := lab.FreeAddr(t)
	b := &before{chain: &chain{}, sink: lab.StartSink(t, sink)}
	b.spamsim = lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n", filter, b.sink.Addr))
	b.postfix = lab.StartPostfix(t, lab.PostfixConfig{ProxyFilter: filter, SMTPD: options})
	return b
}

// begin opens a transaction with one recipient.
func (b *before) begin(t *testing.T) *lab.Client {
	t.Helper()
	c := lab.Dial(t, b.postfix.Addr)
	c.Must("EHLO client.lab.test", "MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>")
	return c
}

// said tells whether the next hop heard a line.
func (b *before) said(line string) bool { return slices.Contains(b.sink.Lines(), line) }

// refuse is a sink's answer to one command.
func refuse(command, reply string) lab.SinkConfig {
	return lab.SinkConfig{Answer: func(line string) string {
		if line == command {
			return reply
		}
		return ""
	}}
}

// TestBeforeQueueParameters: Postfix sends every parameter of its client, and XFORWARD; both arrive (vector B1).
func TestBeforeQueueParameters(t *testing.T) {
	b := newBefore(t, lab.SinkConfig{})
	c := lab.Dial(t, b.postfix.Addr)
	mail := "MAIL FROM:<bob@example.org> SIZE=2000 BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=abc+3Ddef"
	rcpt := "RCPT TO:<a@lab.test> NOTIFY=FAILURE,DELAY ORCPT=rfc822;orig@lab.test"
	c.Must("EHLO client.lab.test", mail, rcpt, "DATA")
	if reply := c.Content([]byte("Subject: x\r\n\r\nx\r\n")); reply != "250 2.0.0 Ok: kept" {
		t.Errorf("the client heard %q, want the next hop's words", reply)
	}
	m := b.sink.Wait(t, 1)[0]
	if m.From != mail || !slices.Equal(m.To, []string{rcpt}) {
		t.Errorf("the next hop heard %q %q", m.From, m.To)
	}
	if !slices.ContainsFunc(b.sink.Lines(), func(l string) bool {
		return strings.HasPrefix(l, "XFORWARD ") && strings.Contains(l, "ADDR=127.0.0.1") && strings.Contains(l, "HELO=client.lab.test")
	}) {
		t.Errorf("the next hop heard nothing of the client: %q", b.sink.Lines())
	}
}

// TestBeforeQueueGivenUp: the client of Postfix leaves after RCPT: no DATA, nothing delivered (vector B2).
func TestBeforeQueueGivenUp(t *testing.T) {
	b := newBefore(t, lab.SinkConfig{})
	c := lab.Dial(t, b.postfix.Addr)
	c.Must("EHLO client.lab.test", "MAIL FROM:<>", "RCPT TO:<b@lab.test>", "RSET", "QUIT")
	lab.Eventually(t, "the next hop is left", func() bool { return b.said("QUIT") || b.said("RSET") })
	if b.said("DATA") || len(b.sink.Mails()) > 0 {
		t.Errorf("the next hop heard %q", b.sink.Lines())
	}
}

// TestBeforeQueueOctets: NUL, bare CR and long lines arrive as they were sent, a bare LF as CRLF, dots unstuffed once
// (vectors B3 and B9).
func TestBeforeQueueOctets(t *testing.T) {
	b := newBefore(t, lab.SinkConfig{}, "smtpd_forbid_bare_newline=no")
	body := "nul\x00NUL\nbare LF\r\nx\r\rlone\r\n..dot\r\n" + strings.Repeat("y", 3000) + "\r\n\xe9\r\n"
	want := strings.ReplaceAll(body, "NUL\nbare", "NUL\r\nbare")
	c := b.begin(t)
	c.Must("DATA")
	if reply := c.Content([]byte("Subject: x\r\n\r\n" + body)); reply[0] != '2' {
		t.Fatal(reply)
	}
	c.Must("MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>")
	chunk := "Subject: x\r\n\r\n" + body
	c.Write(fmt.Sprintf("BDAT %d LAST\r\n%s", len(chunk), chunk))
	if reply := c.Reply(); reply[0] != '2' {
		t.Fatalf("BDAT: %s", reply)
	}
	for i, m := range b.sink.Wait(t, 2) {
		if _, got, _ := strings.Cut(string(m.Content), "\r\n\r\n"); got != want {
			t.Errorf("message %d: the body came as %q, want %q", i, got, want)
		}
		if !strings.HasPrefix(string(m.Content), "X-Spamsim: ") {
			t.Errorf("message %d: not tagged at the very top: %.80q", i, m.Content)
		}
	}
}

// TestBeforeQueueChangesNothing sends random content through two instances of Postfix: one whose filter is a sink, and
// one whose filter is the daemon before a sink. What arrives differs in our field, and in runs of CR before LF, which
// the daemon makes one CRLF.
func TestBeforeQueueChangesNothing(t *testing.T) {
	const n = 300
	b := newBefore(t, lab.SinkConfig{}, "smtpd_forbid_bare_newline=normalize", "smtpd_forbid_bare_newline_exclusions=")
	bare := lab.StartSink(t, lab.SinkConfig{})
	direct := lab.StartPostfix(t, lab.PostfixConfig{ProxyFilter: bare.Addr,
		SMTPD: []string{"smtpd_forbid_bare_newline=normalize", "smtpd_forbid_bare_newline_exclusions="}})
	random := rand.New(rand.NewPCG(7, 8))
	clients := []*lab.Client{lab.Dial(t, direct.Addr), lab.Dial(t, b.postfix.Addr)}
	for i := range n {
		content := append([]byte("Subject: x\r\n\r\n"), lab.Nasty(random, random.IntN(200))...)
		for _, c := range clients {
			if i == 0 {
				c.Must("EHLO client.lab.test")
			}
			c.Must("MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>", "DATA")
			if reply := c.Content(content); reply[0] != '2' {
				t.Fatalf("%q: %s", content, reply)
			}
		}
	}
	received := regexp.MustCompile(`(?s)^(?:X-Spamsim: .*?\r\n)?Received: .*?\r\nSubject:`)
	crs := regexp.MustCompile(`\r+\n`)
	want, got := bare.Wait(t, n), b.sink.Wait(t, n)
	for i := range n {
		w := crs.ReplaceAllString(received.ReplaceAllString(string(want[i].Content), "Subject:"), "\r\n")
		g := received.ReplaceAllString(string(got[i].Content), "Subject:")
		if w != g || !strings.HasPrefix(string(got[i].Content), "X-Spamsim: ") {
			t.Fatalf("message %d: %q came as %q", i, w, got[i].Content)
		}
	}
}

// TestBeforeQueueRefusals: each answer of the next hop is the client's, both lines of it (vectors B4 and B7); with
// speed_adjust a refused recipient fails the message (B7b).
func TestBeforeQueueRefusals(t *testing.T) {
	t.Run("content", func(t *testing.T) {
		b := newBefore(t, refuse(".", "550-5.7.1 first line\n550 5.7.1 second line"))
		c := b.begin(t)
		c.Must("DATA")
		if reply := c.Content([]byte("Subject: x\r\n\r\nx\r\n")); reply != "550-5.7.1 first line\n550 5.7.1 second line" {
			t.Errorf("the client heard %q", reply)
		}
		b.postfix.WaitLog(t, `proxy-reject: END-OF-MESSAGE: 550-5.7.1 first line\?\?550 5.7.1 second line; from=`)
	})
	for _, option := range []string{"smtpd_proxy_options=", "smtpd_proxy_options=speed_adjust"} {
		t.Run(option, func(t *testing.T) {
			b := newBefore(t, refuse("RCPT TO:<no@lab.test>", "550 5.1.1 second rcpt refused"), option)
			c := b.begin(t)
			rcpt := c.Do("RCPT TO:<no@lab.test>")
			c.Must("DATA")
			dot := c.Content([]byte("Subject: x\r\n\r\nx\r\n"))
			if option == "smtpd_proxy_options=" {
				if m := b.sink.Wait(t, 1); rcpt != "550 5.1.1 second rcpt refused" || dot[0] != '2' || len(m[0].To) != 1 {
					t.Errorf("RCPT %q, dot %q, delivered %+v", rcpt, dot, m)
				}
				return
			}
			if rcpt[0] != '2' || !strings.HasPrefix(dot, "550 5.1.1") || b.said("DATA") || len(b.sink.Mails()) > 0 {
				t.Errorf("speed_adjust: RCPT %q, dot %q, the next hop heard %q", rcpt, dot, b.sink.Lines())
			}
		})
	}
}

// TestBeforeQueueNextHopVanishes: the next hop hangs up at the final dot, having said nothing. Whether it kept the
// message nobody knows; the client is told to come back (vector B5).
func TestBeforeQueueNextHopVanishes(t *testing.T) {
	b := newBefore(t, refuse(".", lab.Drop))
	c := b.begin(t)
	c.Must("DATA")
	if reply := c.Content([]byte("Subject: x\r\n\r\nx\r\n")); !strings.HasPrefix(reply, "451 ") {
		t.Errorf("the client heard %q", reply)
	}
}

// TestBeforeQueueDown: with the daemon, or its next hop, down the client is put off at RCPT or at the dot, and the mail
// that follows once it is back passes (vector B6).
func TestBeforeQueueDown(t *testing.T) {
	b := newBefore(t, lab.SinkConfig{})
	b.spamsim.Stop()
	c := lab.Dial(t, b.postfix.Addr)
	c.Must("EHLO client.lab.test", "MAIL FROM:<a@lab.test>")
	if reply := c.Do("RCPT TO:<b@lab.test>"); reply != "451 4.3.0 Error: queue file write error" {
		t.Errorf("without the daemon the client heard %q", reply)
	}
	b.postfix.WaitLog(t, `connect to proxy filter .*: Connection refused`)
	b.spamsim.Start()
	b.sink.Close()
	if reply := lab.Send(t, b.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '4' {
		t.Errorf("without the next hop the client heard %q", reply)
	}
	b.sink = lab.StartSink(t, lab.SinkConfig{Addr: b.sink.Addr})
	if reply := lab.Send(t, b.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
		t.Errorf("with both back the client heard %q", reply)
	}
	b.sink.Wait(t, 1)
}

// TestBeforeQueueNoDuplicate: Postfix gives up on a filter that is slow, and its client will come again. What it gave up
// must not be delivered after all (vector B8). Here the next hop is slow to let the content come.
func TestBeforeQueueNoDuplicate(t *testing.T) {
	for _, slow := range []string{"MAIL", "RCPT", "DATA"} {
		t.Run(slow, func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			b := newBefore(t, lab.SinkConfig{Answer: func(line string) string {
				if strings.HasPrefix(line, slow) {
					<-release
				}
				return ""
			}}, "smtpd_proxy_timeout=2s", "smtpd_proxy_options=speed_adjust")
			c := b.begin(t)
			c.Must("DATA")
			if reply := c.Content([]byte("Subject: x\r\n\r\nx\r\n")); !strings.HasPrefix(reply, "451 ") {
				t.Errorf("the client heard %q", reply)
			}
			b.postfix.WaitLog(t, `timeout talking to proxy`)
			c.Must("NOOP") // Postfix hangs up on its proxy filter only after it has answered its client
			close(release)
			b.spamsim.Stop() // ends what is under way
			if n := len(b.sink.Mails()); n != 0 {
				t.Errorf("%d messages were delivered that the client will send again", n)
			}
		})
	}
}

// TestBeforeQueueBlindsMilters: with a proxy filter on the same listener a milter sees the envelope and no message: the
// two do not go together (vector B10).
func TestBeforeQueueBlindsMilters(t *testing.T) {
	lab.Need(t, "postfix")
	l, name := listenMilter(t, "tcp")
	s := &milter.Server{Check: says(mark)}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	b := newBefore(t, lab.SinkConfig{}, "smtpd_milters="+name)
	if reply := lab.Send(t, b.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
		t.Fatal(reply)
	}
	b.sink.Wait(t, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if n := s.Stats(); n.Connections == 0 || n.Messages != 0 || n.Aborted == 0 {
		t.Errorf("the milter counted %+v", n)
	}
}
