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

// TestRandomThroughMilter sends each message to Postfix twice, with the milter and without. The filter sees of it what Postfix
// has, once; what is delivered differs in our fields alone, octet by octet below Postfix's own Received.
func TestRandomThroughMilter(t *testing.T) {
	r := newRig(t, "unix", &milter.Server{}, says(mark), lab.PostfixConfig{Main: []string{ // else LF.LF ends data
		"smtpd_forbid_bare_newline = normalize", "smtpd_forbid_bare_newline_exclusions =", "line_length_limit = 100000"}})
	random := rand.New(rand.NewPCG(13, 14))
	with, without := lab.Dial(t, r.postfix.Addr), lab.Dial(t, r.postfix.Inject)
	for _, c := range []*lab.Client{with, without} {
		c.Must("EHLO client.lab.test")
	}
	for i := range randoms {
		content := randomMail(random, i)
		sendBoth(t, with, without, i, content)
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
	r.sameBelowOurs(t)
}

// sendBoth sends a message to both, of which the sender's name tells where it went. Each step goes to both before the answers
// are read.
func sendBoth(t *testing.T, with, without *lab.Client, i int, content []byte) {
	t.Helper()
	for door, c := range map[string]*lab.Client{"with": with, "without": without} {
		c.Write(fmt.Sprintf("MAIL FROM:<%d.%s@lab.test>\r\nRCPT TO:<b@lab.test>\r\nDATA\r\n", i, door))
	}
	for step, want := range []string{"250", "250", "354", "250"} {
		for _, c := range []*lab.Client{with, without} {
			if reply := c.Reply(); !strings.HasPrefix(reply, want) {
				t.Fatalf("%q, step %d: %s", content, step, reply)
			}
			if want == "354" {
				c.Write(string(lab.Stuff(content)))
			}
		}
	}
}

// postfixReceived is the field that Postfix puts on what it takes: it tells the listener, the time and the queue id.
var postfixReceived = regexp.MustCompile(`(?s)\AReceived: .*?\r\nFrom:`)

// sameBelowOurs holds what was delivered of each message with the milter against what was delivered without.
func (r *rig) sameBelowOurs(t *testing.T) {
	t.Helper()
	arrived := map[string]string{}
	for _, m := range r.sink.Wait(t, 2*randoms) {
		sender, _, _ := strings.Cut(strings.TrimPrefix(m.From, "MAIL FROM:<"), "@")
		arrived[sender] = string(m.Content)
	}
	if len(arrived) != 2*randoms || r.sink.Cut() > 0 {
		t.Errorf("%d arrived, %d cut, of %d", len(arrived), r.sink.Cut(), 2*randoms)
	}
	for i := range randoms {
		tagged, ok := strings.CutPrefix(arrived[fmt.Sprint(i, ".with")], markLines)
		plain := arrived[fmt.Sprint(i, ".without")]
		if !ok || plain == "" || postfixReceived.ReplaceAllString(tagged, "From:") != postfixReceived.ReplaceAllString(plain, "From:") {
			t.Fatalf("message %d: with the milter %q, without %q", i, tagged, plain)
		}
	}
}
