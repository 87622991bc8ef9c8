package lab

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A fakeTB records how a test would have ended.
type fakeTB struct {
	testing.TB
	skipped, failed string
	errors          []string
}

func (f *fakeTB) Helper()        {}
func (f *fakeTB) Skip(a ...any)  { f.skipped = a[0].(string); panic(f) }
func (f *fakeTB) Fatal(a ...any) { f.failed = a[0].(string); panic(f) }
func (f *fakeTB) run(do func())  { defer func() { _ = recover() }(); do() }
func need(packages ...string) *fakeTB {
	f := &fakeTB{}
	f.run(func() { Need(f, packages...) })
	return f
}

func TestNeed(t *testing.T) {
	t.Setenv(NoSkip, "")
	if f := need("sh"); f.skipped+f.failed != "" {
		t.Errorf("what is there is missed: %+v", f)
	}
	if f := need("sh", "no-such-server"); f.skipped != "needs no-such-server: apt-get install no-such-server" {
		t.Errorf("skipped with %q", f.skipped)
	}
	t.Setenv(NoSkip, "1")
	if f := need("no-such-server"); f.skipped != "" || !strings.Contains(f.failed, "apt-get install no-such-server") {
		t.Errorf("with %s=1 a missing server skips %q, fails %q", NoSkip, f.skipped, f.failed)
	}
}

// ended is content as it arrives: the missing last CRLF is added.
func ended(content []byte) []byte {
	if len(content) == 0 || bytes.HasSuffix(content, []byte("\r\n")) {
		return content
	}
	return append(slices.Clone(content), "\r\n"...)
}

func TestStuffAndUnstuff(t *testing.T) {
	for in, want := range map[string]string{
		"":                ".\r\n",
		"a\r\n":           "a\r\n.\r\n",
		"a":               "a\r\n.\r\n",
		".":               "..\r\n.\r\n",
		"a\r\n.\r\nb\r\n": "a\r\n..\r\nb\r\n.\r\n",
		"a\n.\nb\r\n":     "a\n.\nb\r\n.\r\n",
	} {
		if got := string(Stuff([]byte(in))); got != want {
			t.Errorf("Stuff(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSinkKeepsOctets(t *testing.T) {
	s := StartSink(t, SinkConfig{})
	r := rand.New(rand.NewPCG(1, 2))
	c := Dial(t, s.Addr)
	c.Must("EHLO me")
	var sent [][]byte
	for i := range 300 {
		content := Nasty(r, i)
		c.Must("MAIL FROM:<> SIZE=1", "RCPT TO:<a@b>", "RCPT TO:<c@d> NOTIFY=NEVER", "DATA")
		if reply := c.Content(content); reply != "250 2.0.0 Ok: kept" {
			t.Fatalf("%q: %s", content, reply)
		}
		sent = append(sent, ended(content))
	}
	mails := s.Mails()
	if len(mails) != len(sent) {
		t.Fatalf("%d of %d arrived", len(mails), len(sent))
	}
	for i, m := range mails {
		if !bytes.Equal(m.Content, sent[i]) {
			t.Fatalf("message %d: sent %q, arrived %q", i, sent[i], m.Content)
		}
	}
	if m := mails[0]; m.From != "MAIL FROM:<> SIZE=1" || !slices.Equal(m.To, []string{"RCPT TO:<a@b>", "RCPT TO:<c@d> NOTIFY=NEVER"}) {
		t.Errorf("the envelope came as %+v", m)
	}
}

func TestSinkAnswers(t *testing.T) {
	s := StartSink(t, SinkConfig{Answer: func(line string) string {
		return map[string]string{"RCPT TO:<no@b>": "550 5.1.1 no", ".": "451-4.3.0 one\n451 4.3.0 two", "NOOP": Drop}[line]
	}})
	c := Dial(t, s.Addr)
	c.Must("EHLO me", "MAIL FROM:<a@b>", "RCPT TO:<yes@b>")
	if reply := c.Do("RCPT TO:<no@b>"); reply != "550 5.1.1 no" {
		t.Errorf("RCPT: %s", reply)
	}
	c.Must("DATA")
	if reply := c.Content([]byte("x\r\n")); reply != "451-4.3.0 one\n451 4.3.0 two" {
		t.Errorf("final dot: %q", reply)
	}
	if reply := c.Do("NOOP"); reply != "" {
		t.Errorf("NOOP should hang up, said %q", reply)
	}
	if n := len(s.Mails()); n != 0 {
		t.Errorf("%d refused messages were kept", n)
	}
	c = Dial(t, s.Addr)
	c.Must("EHLO me", "MAIL FROM:<a@b>", "RCPT TO:<yes@b>", "DATA")
	c.Write("half a mess")
	c.Conn.Close()
	Eventually(t, "the sink sees the cut", func() bool { return s.Cut() == 1 })
	if reply := Send(t, s.Addr, "a@b", []string{"no@b"}, nil); reply != "550 5.1.1 no" {
		t.Errorf("Send returned %q", reply)
	}
}

func TestPostfixDelivers(t *testing.T) {
	p := StartPostfix(t, PostfixConfig{})
	reply := Send(t, p.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: one\r\n\r\nhello\r\n"))
	if !strings.HasPrefix(reply, "250 2.0.0 Ok: queued as ") {
		t.Fatalf("reply %q", reply)
	}
	got := string(p.WaitMailbox(t, 1)[0])
	if !strings.HasPrefix(got, "Received: ") || !strings.HasSuffix(got, "\n\nhello\n") {
		t.Errorf("delivered %q", got)
	}
	if id := p.WaitLog(t, `(\w+): removed`)[1]; id != strings.TrimPrefix(reply, "250 2.0.0 Ok: queued as ") {
		t.Errorf("removed %s, but the reply was %q", id, reply)
	}
	p.Stop()
	if listens(p.Addr) {
		t.Error("still listening after Stop")
	}
}

func TestPostfixHandsOn(t *testing.T) {
	s := StartSink(t, SinkConfig{})
	p := StartPostfix(t, PostfixConfig{NextHop: s.Addr})
	content := "Subject: one\r\nTo: x\r\n\r\n..dots\r\nnul \x00 and 8-bit \xe9\r\n"
	if reply := Send(t, p.Inject, "a@lab.test", []string{"b@elsewhere.test"}, []byte(content)); reply[0] != '2' {
		t.Fatalf("reply %q", reply)
	}
	m := s.Wait(t, 1)[0]
	if _, body, _ := strings.Cut(string(m.Content), "\r\n\r\n"); body != "..dots\r\nnul \x00 and 8-bit \xe9\r\n" {
		t.Errorf("the body arrived as %q", body)
	}
	if !strings.HasPrefix(m.From, "MAIL FROM:<a@lab.test>") || len(m.To) != 1 {
		t.Errorf("the envelope arrived as %+v", m)
	}
}
