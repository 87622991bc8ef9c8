package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter"
	"spamsim/milter/filter"
)

// A rig is a Postfix with a milter of ours before it and a sink behind it.
type rig struct {
	postfix *lab.Postfix
	sink    *lab.Sink
	server  *milter.Server

	mu   sync.Mutex
	seen []lab.Mail // what the filter was asked: sender, recipients, message
	envs []filter.Envelope
}

// newRig starts one whose filter says what judge says.
func newRig(t *testing.T, network string, s *milter.Server, judge filter.CheckFunc, c lab.PostfixConfig) *rig {
	t.Helper()
	lab.Need(t, "postfix")
	r := &rig{server: s, sink: lab.StartSink(t, lab.SinkConfig{})}
	s.Check = func(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
		r.mu.Lock()
		r.seen = append(r.seen, lab.Mail{From: env.Sender, To: env.Recipients, Content: bytes.Clone(raw)})
		r.envs = append(r.envs, *env)
		r.mu.Unlock()
		return judge(ctx, env, raw)
	}
	l, name := listenMilter(t, network)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; err != milter.ErrServerClosed {
			t.Errorf("Serve: %v", err)
		}
	})
	c.NextHop, c.Milters = r.sink.Addr, []string{name}
	r.postfix = lab.StartPostfix(t, c)
	return r
}

// listenMilter listens where Postfix may come, and says how its configuration names the place.
func listenMilter(t testing.TB, network string) (net.Listener, string) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "spamsim-milter-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil { // Postfix is another user
			t.Fatal(err)
		}
		addr = dir + "/socket"
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	if network == "unix" {
		if err := os.Chmod(addr, 0o666); err != nil {
			t.Fatal(err)
		}
		return l, "unix:" + addr
	}
	return l, "inet:" + l.Addr().String()
}

// delivered waits for the n-th message at the sink and returns its content.
func (r *rig) delivered(t *testing.T, n int) string {
	t.Helper()
	return string(r.sink.Wait(t, n)[n-1].Content)
}

// says is a filter that says the same of each message.
func says(j filter.Judgement) filter.CheckFunc {
	return func(context.Context, *filter.Envelope, []byte) filter.Judgement { return j }
}

// mark is a judgement as the real filter makes it: one field of ours, none of theirs.
var mark = filter.Judgement{
	Add: []filter.Field{
		{Name: "X-Spamsim", Value: " bulk; sigma=4.6; threshold=3.0;\n\tcluster=7f3a19c2; id=mx"},
		{Name: "X-Second", Value: " two"},
	},
	Strip: []string{"X-Spamsim"},
}

// markLines is how mark looks on the wire.
const markLines = "X-Spamsim: bulk; sigma=4.6; threshold=3.0;\r\n\tcluster=7f3a19c2; id=mx\r\nX-Second: two\r\n"

// TestMilterTags: ours on top of Postfix's own Received, folded by CRLF TAB; three forged fields of any case gone; the
// rest as it was, in order.
func TestMilterTags(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		r := newRig(t, network, &milter.Server{}, says(mark), lab.PostfixConfig{})
		content := "x-spamsim: one\r\nSubject:  two spaces\r\nX-SPAMSIM: two\r\nReferences: <a@lab.test>\r\n\t<b@lab.test>\r\nX-Spamsim: three\r\n" +
			"From: a@lab.test\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-Id: <1@lab.test>\r\n\r\n.dot\r\nbody \xe9\r\n"
		if reply := lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte(content)); reply[0] != '2' {
			t.Fatalf("%s: %s", network, reply)
		}
		got := r.delivered(t, 1)
		rest, ok := strings.CutPrefix(got, markLines+"Received: ")
		if !ok {
			t.Fatalf("%s: delivered %q", network, got)
		}
		rest = rest[regexp.MustCompile(`\r\n[^\t]`).FindStringIndex(rest)[0]+2:]
		want := "Subject:  two spaces\r\nReferences: <a@lab.test>\r\n\t<b@lab.test>\r\nFrom: a@lab.test\r\n" +
			"Date: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-Id: <1@lab.test>\r\n\r\n.dot\r\nbody \xe9\r\n"
		if rest != want {
			t.Errorf("%s: below Received came %q, want %q", network, rest, want)
		}
		if seen := string(r.seen[0].Content); seen != content {
			t.Errorf("%s: the filter saw %q, want the message as it was sent", network, seen)
		}
	}
}

// TestMilterEnvelope: address, HELO, envelope and queue id, of several messages on one connection, one of them given up.
func TestMilterEnvelope(t *testing.T) {
	r := newRig(t, "tcp", &milter.Server{}, says(mark), lab.PostfixConfig{
		SMTPD: []string{"mynetworks=127.0.0.0/8,192.0.2.7"}})
	c := lab.Dial(t, r.postfix.Addr)
	c.Must("EHLO proxy.lab.test", "XCLIENT ADDR=192.0.2.7 NAME=[UNAVAILABLE]", "EHLO client.lab.test",
		"MAIL FROM:<given@up.test>", "RCPT TO:<b@lab.test>", "RSET",
		"MAIL FROM:<> SIZE=10", "RCPT TO:<b@lab.test>", "RCPT TO:<c@lab.test>", "DATA")
	first := c.Content([]byte("Subject: 1\r\n\r\n1\r\n"))
	c.Must("MAIL FROM:<second@lab.test>", "RCPT TO:<d@lab.test>", "DATA")
	second := c.Content([]byte("Subject: 2\r\n\r\n2\r\n"))
	r.sink.Wait(t, 2)
	if len(r.envs) != 2 {
		t.Fatalf("the filter was asked %d times", len(r.envs))
	}
	for i, want := range []string{
		fmt.Sprint("192.0.2.7 client.lab.test  [b@lab.test c@lab.test] ", strings.TrimPrefix(first, "250 2.0.0 Ok: queued as ")),
		fmt.Sprint("192.0.2.7 client.lab.test second@lab.test [d@lab.test] ", strings.TrimPrefix(second, "250 2.0.0 Ok: queued as ")),
	} {
		e := r.envs[i]
		if got := fmt.Sprintln(e.ClientAddr, e.Helo, e.Sender, e.Recipients, e.QueueID); got != want+"\n" {
			t.Errorf("message %d: %q, want %q", i, got, want)
		}
	}
	if n := r.server.Stats(); n.Messages != 2 || n.Broken != 0 {
		t.Errorf("counted %+v", n)
	}
}

// TestMilterRefusedRecipient: a recipient that Postfix itself refuses is none of the message's.
func TestMilterRefusedRecipient(t *testing.T) {
	r := newRig(t, "tcp", &milter.Server{}, says(mark), lab.PostfixConfig{
		SMTPD: []string{"smtpd_recipient_restrictions=check_recipient_access,inline:{no@lab.test=REJECT},permit_mynetworks,reject"}})
	c := lab.Dial(t, r.postfix.Addr)
	c.Must("EHLO client.lab.test", "MAIL FROM:<a@lab.test>", "RCPT TO:<yes@lab.test>")
	if reply := c.Do("RCPT TO:<no@lab.test>"); reply[0] != '5' {
		t.Fatalf("RCPT: %s", reply)
	}
	c.Must("DATA")
	c.Content([]byte("Subject: 1\r\n\r\n1\r\n"))
	r.sink.Wait(t, 1)
	if got := r.envs[0].Recipients; len(got) != 1 || got[0] != "yes@lab.test" {
		t.Errorf("recipients %q", got)
	}
}

// TestMilterActions: what the sender hears and what becomes of the message.
func TestMilterActions(t *testing.T) {
	var j filter.Judgement
	r := newRig(t, "tcp", &milter.Server{}, func(context.Context, *filter.Envelope, []byte) filter.Judgement { return j }, lab.PostfixConfig{})
	send := func(action filter.Action, reply string) string {
		j = mark
		j.Action, j.Reply = action, reply
		return lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n"))
	}
	for _, c := range []struct {
		action      filter.Action
		reply, want string
	}{
		{filter.Reject, "550 5.7.1 98% similar", "550 5.7.1 98% similar"},
		{filter.Reject, "", "550 5.7.1 Command rejected"},
		{filter.Reject, "550 5.7.1 one\r\n250 two", "550 5.7.1 one??250 two"},
		{filter.TempFail, "451 4.7.1 100% later", "451 4.7.1 100% later"},
		{filter.TempFail, "", "451 4.7.1 Service unavailable - try again later"},
	} {
		if got := send(c.action, c.reply); got != c.want {
			t.Errorf("action %d, reply %q: the sender heard %q, want %q", c.action, c.reply, got, c.want)
		}
	}
	held := send(filter.Quarantine, "")
	id := strings.TrimPrefix(held, "250 2.0.0 Ok: queued as ")
	r.postfix.WaitLog(t, id+`: milter-hold: END-OF-MESSAGE .*: milter triggers HOLD action`)
	if tagged := send(filter.Tag, ""); tagged[0] != '2' {
		t.Errorf("tagged: %s", tagged)
	}
	r.sink.Wait(t, 1) // the tagged one, sent last
	if n := len(r.sink.Mails()); n != 1 {
		t.Errorf("%d messages were delivered, one was tagged, one held, the others refused", n)
	}
}

// TestMilterIsSlow: Postfix waits six seconds for a word here. With progress a judgement of twice as long is waited for;
// without, the message is put off, and the milter lives on.
func TestMilterIsSlow(t *testing.T) {
	impatient := lab.PostfixConfig{Main: []string{"milter_content_timeout = 6s"}}
	slow := func(_ context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
		if bytes.Contains(raw, []byte("Subject: slow")) {
			time.Sleep(12 * time.Second)
		}
		return mark
	}
	content := []byte("Subject: slow\r\n\r\nx\r\n")
	t.Run("progress", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "tcp", &milter.Server{Progress: 50 * time.Millisecond}, slow, impatient)
		if reply := lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, content); reply[0] != '2' {
			t.Errorf("slow with progress: %s", reply)
		}
		if got := r.delivered(t, 1); !strings.HasPrefix(got, markLines) {
			t.Errorf("delivered %q", got)
		}
	})
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "tcp", &milter.Server{Progress: time.Hour}, slow, impatient)
		if reply := lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, content); reply != "451 4.7.1 Service unavailable - try again later" {
			t.Errorf("slow in silence: %s", reply)
		}
		r.postfix.WaitLog(t, `can't read SMFIC_BODYEOB reply packet header`)
		if reply := lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: quick\r\n\r\n")); reply[0] != '2' {
			t.Errorf("the next message: %s", reply)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		unjudged := filter.Judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " error; reason=timeout"}}}
		s := &milter.Server{Progress: 50 * time.Millisecond, JudgeTimeout: 7 * time.Second,
			Pass: func(*filter.Envelope, filter.Kind, string) filter.Judgement { return unjudged }}
		r := newRig(t, "tcp", s, slow, impatient)
		if reply := lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, content); reply[0] != '2' {
			t.Errorf("too slow: %s", reply)
		}
		if got := r.delivered(t, 1); !strings.HasPrefix(got, "X-Spamsim: error; reason=timeout\r\n") {
			t.Errorf("delivered %q", got)
		}
	})
}

// TestMilterPanics: the message passes, and so do the others of the same SMTP session.
func TestMilterPanics(t *testing.T) {
	r := newRig(t, "tcp", &milter.Server{}, func(_ context.Context, _ *filter.Envelope, raw []byte) filter.Judgement {
		if bytes.Contains(raw, []byte("Subject: bad")) {
			panic("a bug")
		}
		return mark
	}, lab.PostfixConfig{})
	c := lab.Dial(t, r.postfix.Addr)
	c.Must("EHLO client.lab.test")
	for _, subject := range []string{"good", "bad", "good"} {
		c.Must("MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>", "DATA")
		if reply := c.Content([]byte("Subject: " + subject + "\r\n\r\nx\r\n")); reply[0] != '2' {
			t.Errorf("%s: %s", subject, reply)
		}
	}
	mails := r.sink.Wait(t, 3)
	tagged := 0
	for _, m := range mails {
		if bytes.HasPrefix(m.Content, []byte(markLines)) {
			tagged++
		}
	}
	if tagged != 2 {
		t.Errorf("%d of 3 are tagged, want 2", tagged)
	}
}

// TestMilterOctets: 8-bit, long lines, dots and no body at all reach the filter as they were sent, but for what Postfix
// itself does: a bare LF becomes CRLF, the last line is ended, and a bare CR is shown to milters as a space.
func TestMilterOctets(t *testing.T) {
	r := newRig(t, "unix", &milter.Server{}, says(mark), lab.PostfixConfig{Main: []string{"line_length_limit = 100000"}})
	head := "From: a@lab.test\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\nMessage-Id: <1@lab.test>\r\n"
	for i, c := range []struct{ sent, want string }{
		{head + "\r\nx\rCR \xff\r\n", head + "\r\nx CR \xff\r\n"},
		{head + "\r\nNUL \x00\r\n", head + "\r\nNUL \x00\r\n"},
		{head + "\r\nbare\nLF\r\n", head + "\r\nbare\r\nLF\r\n"},
		{head + "\r\n..\r\n.\nx", head + "\r\n..\r\n.\r\nx\r\n"},
		{head + "\r\n" + strings.Repeat("long ", 2000), head + "\r\n" + strings.Repeat("long ", 2000) + "\r\n"},
		{head + "\r\n" + strings.Repeat("a line of the body\r\n", 10000), head + "\r\n" + strings.Repeat("a line of the body\r\n", 10000)},
		{head, head + "\r\n"},
		{head + "X-Eight: \xe4\xf6\r\n\r\n", head + "X-Eight: \xe4\xf6\r\n\r\n"},
	} {
		if reply := lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte(c.sent)); reply[0] != '2' {
			t.Fatalf("case %d: %s", i, reply)
		}
		if got := string(r.seen[i].Content); got != c.want {
			t.Errorf("case %d: the filter saw %.200q, want %.200q", i, got, c.want)
		}
	}
}

// TestMilterGoesAway: Postfix is told by its configuration what to do without a milter; here, to go on.
func TestMilterGoesAway(t *testing.T) {
	r := newRig(t, "tcp", &milter.Server{}, says(mark), lab.PostfixConfig{Main: []string{"milter_default_action = accept"}})
	send := func() string {
		return lab.Send(t, r.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n"))
	}
	if reply := send(); reply[0] != '2' {
		t.Fatal(reply)
	}
	r.delivered(t, 1) // Postfix may deliver the second before the first
	ctx, cancel := context.WithTimeout(context.Background(), lab.Patience)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if reply := send(); reply[0] != '2' {
		t.Errorf("without a milter: %s", reply)
	}
	if got := r.delivered(t, 2); strings.HasPrefix(got, markLines) {
		t.Errorf("tagged without a milter: %q", got)
	}
}
