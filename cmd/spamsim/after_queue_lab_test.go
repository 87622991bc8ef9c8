package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestAfterQueue: what Postfix sends to a content_filter, and what of it arrives behind: 8-bit content as it is, SMTPUTF8
// without a bounce, the DSN parameters, and the client's address under the queue id of the first pass.
func TestAfterQueue(t *testing.T) {
	lab.Need(t, "postfix")
	filter := lab.FreeAddr(t)
	sink := lab.StartSink(t, lab.SinkConfig{})
	lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n", filter, sink.Addr))
	p := lab.StartPostfix(t, lab.PostfixConfig{ContentFilter: filter})
	c := lab.Dial(t, p.Addr)
	c.Must("EHLO client.lab.test", "MAIL FROM:<bob@example.org> BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=e1",
		"RCPT TO:<a@lab.test> NOTIFY=FAILURE", "RCPT TO:<\u00fc@lab.test>", "DATA")
	header := "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\nSubject: gr\u00fc\u00dfe\r\n"
	body := "8-bit \u00fc\r\n.dot\r\n"
	queued := c.Content([]byte(header + "\r\n" + body))
	m := sink.Wait(t, 1)[0]
	for _, part := range []string{"MAIL FROM:<bob@example.org> ", " BODY=8BITMIME", " SMTPUTF8", " ENVID=e1", " RET=HDRS", " SIZE="} {
		if !strings.Contains(m.From+" ", part) {
			t.Errorf("the next hop heard %q, without %q", m.From, part)
		}
	}
	want := []string{"RCPT TO:<a@lab.test> ORCPT=rfc822;a@lab.test NOTIFY=FAILURE", "RCPT TO:<\u00fc@lab.test>"}
	if len(m.To) != 2 || m.To[0] != want[0] || !strings.HasPrefix(m.To[1], want[1]) {
		t.Errorf("the next hop heard %q, want %q", m.To, want)
	}
	head, got, _ := strings.Cut(string(m.Content), "\r\n\r\n")
	if got != body || !strings.Contains(head+"\r\n", header) || !strings.HasPrefix(head, "X-Spamsim: ") {
		t.Errorf("delivered %q", m.Content)
	}
	id := strings.TrimPrefix(queued, "250 2.0.0 Ok: queued as ")
	lines := strings.Join(slices.DeleteFunc(sink.Lines(), func(l string) bool { return !strings.HasPrefix(l, "XFORWARD ") }), " ")
	for _, part := range []string{"ADDR=127.0.0.1", "IDENT=" + id, "HELO=client.lab.test", "PROTO=ESMTP"} {
		if !strings.Contains(lines, part) {
			t.Errorf("the next hop heard %q, without %s", lines, part)
		}
	}
}

// TestAfterQueueWaits: with the daemon down mail waits in Postfix's queue and is delivered once, tagged, when it is back.
func TestAfterQueueWaits(t *testing.T) {
	c := newChain(t, "content filter")
	c.spamsim.Stop()
	reply := lab.Send(t, c.postfix.Addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\nMessage-ID: <1@lab.test>\r\n\r\nx\r\n"))
	if reply[0] != '2' {
		t.Fatal(reply)
	}
	c.postfix.WaitLog(t, `status=deferred \(connect to 127.0.0.1.*Connection refused\)`)
	c.spamsim.Start()
	c.settle(t)
	if got := verdicts(t, c.postfix.WaitMailbox(t, 1)); len(got) != 1 || got["<1@lab.test>"] == "" {
		t.Errorf("delivered %q", got)
	}
}

// TestAfterQueueOriginalClient: Postfix's log behind the filter names the client before it.
func TestAfterQueueOriginalClient(t *testing.T) {
	for _, door := range []string{"proxy filter", "content filter"} {
		c := newChain(t, door)
		stream, _ := campaign(1, 0)
		c.send(t, stream[0])
		c.postfix.WaitMailbox(t, 1)
		c.postfix.WaitLog(t, `client=.*, orig_client=.*\[`+stream[0].Client+`\]`)
		if !strings.Contains(c.spamsim.Log(), "client="+stream[0].Client+" ") {
			t.Errorf("%s: the daemon saw another client than %s", door, stream[0].Client)
		}
	}
}
