package main_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter"
)

// randoms is how many random messages go each way.
const randoms = 3000

// randomMail is message i: a small header, and a body of bare CR and LF, NUL, 8-bit octets, dots, now and then a long line,
// and any end.
func randomMail(r *rand.Rand, i int) []byte {
	mail := fmt.Appendf(nil, "From: a@lab.test\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-Id: <%d@lab.test>\r\n\r\n", i)
	mail = append(mail, lab.Nasty(r, r.IntN(60))...)
	if r.IntN(10) == 0 {
		mail = append(mail, strings.Repeat("x", r.IntN(5000))...)
	}
	return append(mail, lab.Nasty(r, r.IntN(60))...)
}

var lineEnds = regexp.MustCompile(`\r*\n`)

// reference is what content becomes by the rules of the proxy, said in the plainest way: any number of CR and an LF is a
// line end, a missing last one is added, all else stays.
func reference(content []byte) string {
	text := string(content)
	if !strings.HasSuffix(text, "\r\n") {
		text += "\r\n"
	}
	return lineEnds.ReplaceAllString(text, "\r\n")
}

// TestRandomThroughProxy: the next hop gets octet by octet what the reference says, below our one field, and one message for
// each that was sent.
func TestRandomThroughProxy(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	addr := lab.FreeAddr(t)
	lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n", addr, sink.Addr))
	random := rand.New(rand.NewPCG(11, 12))
	c := lab.Dial(t, addr)
	c.Must("EHLO client.lab.test")
	var want []string
	for i := range randoms {
		content := randomMail(random, i)
		c.Must("MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>", "DATA")
		if reply := c.Content(content); reply != "250 2.0.0 Ok: kept" {
			t.Fatalf("%q: %s", content, reply)
		}
		want = append(want, reference(content))
	}
	got := sink.Wait(t, randoms)
	if len(got) != randoms || sink.Cut() > 0 {
		t.Fatalf("%d messages arrived, %d cut, of %d", len(got), sink.Cut(), randoms)
	}
	ours := regexp.MustCompile(`\AX-Spamsim: [^\r\n]*\r\n(?:\t[^\r\n]*\r\n)*`)
	for i, m := range got {
		field := ours.FindString(string(m.Content))
		if rest := string(m.Content)[len(field):]; field == "" || rest != want[i] {
			t.Fatalf("message %d came as %q, want %q below our field", i, m.Content, want[i])
		}
	}
}

// shown is what Postfix 3.7 shows a milter of content, by its own rules: lines end in LF or CRLF, each without its first dot,
// which the client has doubled after CRLF alone; a line of nothing but a dot, where it ends no message, is dropped; a CR
// within a line is shown as a space.
func shown(content []byte) string {
	wire := strings.TrimSuffix(string(lab.Stuff(content)), ".\r\n")
	var out strings.Builder
	for line := range strings.Lines(wire) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "." {
			continue
		}
		out.WriteString(strings.ReplaceAll(strings.TrimPrefix(line, "."), "\r", " ") + "\r\n")
	}
	return out.String()
}

// TestRandomThroughMilter: the filter sees of each message what Postfix has of it, and is asked once for each.
func TestRandomThroughMilter(t *testing.T) {
	r := newRig(t, "unix", &milter.Server{}, says(mark), lab.PostfixConfig{Main: []string{
		"smtpd_forbid_bare_newline = normalize", "smtpd_forbid_bare_newline_exclusions =", "line_length_limit = 100000",
		"default_transport = discard"}})
	random := rand.New(rand.NewPCG(13, 14))
	c := lab.Dial(t, r.postfix.Addr)
	c.Must("EHLO client.lab.test")
	for i := range randoms {
		content := randomMail(random, i)
		c.Must("MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>", "DATA")
		if reply := c.Content(content); reply[0] != '2' {
			t.Fatalf("%q: %s", content, reply)
		}
		r.mu.Lock()
		seen := r.seen
		r.mu.Unlock()
		if len(seen) != i+1 {
			t.Fatalf("message %d: the filter was asked %d times", i, len(seen))
		}
		if got := string(seen[i].Content); got != shown(content) {
			t.Fatalf("message %d: the filter saw %q of %q, want %q", i, got, content, shown(content))
		}
	}
	if n := r.server.Stats(); n.Messages != randoms || n.Broken+n.Failed > 0 {
		t.Errorf("counted %+v", n)
	}
}
