package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// A chain is a client's way: Postfix, with the daemon beside or before it, and a mailbox behind.
type chain struct {
	postfix *lab.Postfix
	spamsim *lab.Spamsim
}

// clients are those that may relay through the lab's Postfix: the demonstration's senders.
const clients = "mynetworks=127.0.0.0/8,198.18.0.0/15"

// newChain puts the daemon at a door of Postfix. It starts first: Postfix asks a milter at once.
func newChain(t *testing.T, door string) *chain {
	t.Helper()
	lab.Need(t, "postfix")
	filter, inject := lab.FreeAddr(t), lab.FreeAddr(t)
	c := lab.PostfixConfig{Inject: inject, SMTPD: []string{clients}}
	toml := fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n", filter, inject)
	switch door {
	case "proxy filter":
		c.ProxyFilter = filter
	case "content filter":
		c.ContentFilter = filter
	case "milter":
		c.Milters = []string{"inet:" + filter}
		toml = fmt.Sprintf("[smtp]\nlisten = []\n[milter]\nlisten = [%q]\n", filter)
	}
	return &chain{spamsim: lab.StartSpamsim(t, toml), postfix: lab.StartPostfix(t, c)}
}

// send sends a message as its own client would.
func (c *chain) send(t *testing.T, m demo.Mail) {
	t.Helper()
	s := lab.Dial(t, c.postfix.Addr)
	defer s.Conn.Close()
	s.Must("EHLO proxy.lab.test", "XCLIENT ADDR="+m.Client+" NAME=[UNAVAILABLE]", "EHLO client.lab.test",
		"MAIL FROM:<"+m.From+">", "RCPT TO:<"+m.To+">", "DATA")
	if reply := s.Content(m.Raw); reply[0] != '2' {
		t.Fatalf("%s: %s", m.Subject, reply)
	}
	s.Must("QUIT")
}

// verdicts maps the Message-ID of each delivered mail to the value of its one X-Spamsim field.
func verdicts(t *testing.T, mails [][]byte) map[string]string {
	t.Helper()
	field := regexp.MustCompile(`(?mi)^x-spamsim: (.*(?:\n[ \t].*)*)`)
	id := regexp.MustCompile(`(?mi)^message-id: *(<.*>)`)
	out := map[string]string{}
	for _, raw := range mails {
		header, _, _ := bytes.Cut(raw, []byte("\n\n"))
		fields := field.FindAllSubmatch(header, -1)
		if len(fields) != 1 {
			t.Errorf("%d X-Spamsim fields in %q", len(fields), header)
			continue
		}
		out[string(id.FindSubmatch(header)[1])] = string(fields[0][1])
	}
	return out
}

// TestCampaignBehindPostfix: six near-copies of one spam, each with a twentieth of its words changed, from different
// senders, among fifty other mails. The fifth and the sixth are called bulk and nothing else is, though the daemon was
// stopped after the second and killed after the fourth. What comes out of Postfix lies in a mailbox.
func TestCampaignBehindPostfix(t *testing.T) {
	for _, door := range []string{"proxy filter", "content filter", "milter"} {
		t.Run(door, func(t *testing.T) {
			c := newChain(t, door)
			stream, extra := campaign(6, 50)
			copies, bulk := 0, map[string]bool{}
			for _, m := range stream {
				if m.Kind == demo.Pills {
					c.settle(t) // the copies are judged in the order of sending
				}
				c.send(t, m)
				if m.Kind == demo.Pills {
					c.settle(t)
					copies++
					bulk[messageID(m)] = copies >= 5
					c.interrupt(t, copies, extra)
				}
			}
			got := verdicts(t, c.postfix.WaitMailbox(t, len(stream)))
			for _, m := range stream {
				if v := got[messageID(m)]; v == "" || strings.HasPrefix(v, "bulk;") != bulk[messageID(m)] {
					t.Errorf("%s from %s: %q, want bulk %v", m.Subject, m.From, v, bulk[messageID(m)])
				}
			}
			last := got[messageID(stream[len(stream)-1])]
			for _, part := range []string{"copies=6;", "senders=6;", "nets=6;", "id=mx.lab.test"} {
				if !strings.Contains(last, part) {
					t.Errorf("the last copy: %q, want %s", last, part)
				}
			}
		})
	}
}

// interrupt stops the daemon after the second copy and kills it after the fourth.
func (c *chain) interrupt(t *testing.T, copies int, extra demo.Mail) {
	t.Helper()
	switch copies {
	case 2:
		c.spamsim.Stop()
		c.spamsim.Start()
	case 4:
		file := filepath.Join(t.TempDir(), "extra.eml")
		if err := os.WriteFile(file, extra.Raw, 0o644); err != nil {
			t.Fatal(err)
		}
		c.spamsim.Run("train", "--ham", file) // what was counted before is on disk with it
		c.spamsim.Kill()
		c.spamsim.Start()
	}
}

// settle waits until all mail so far has been delivered: after the queue a message is judged when Postfix finds time.
func (c *chain) settle(t *testing.T) {
	t.Helper()
	lab.Eventually(t, "the queue is empty", func() bool { return c.postfix.Queued() == 0 })
}

// campaign is a stream of so many near-copies, the last of them at its end, among other mail, and one mail more.
func campaign(copies, others int) (stream []demo.Mail, extra demo.Mail) {
	for _, m := range demo.Stream(7) {
		switch {
		case m.Kind == demo.Pills && copies > 0:
			copies--
			stream = append(stream, m)
		case m.Kind == demo.Unrelated && others > 0:
			others--
			stream = append(stream, m)
		case m.Kind == demo.Unrelated:
			extra = m
		}
	}
	for i := len(stream) - 1; ; i-- {
		if stream[i].Kind == demo.Pills {
			stream[i], stream[len(stream)-1] = stream[len(stream)-1], stream[i]
			return stream, extra
		}
	}
}

// messageID is a message's own, with its brackets.
func messageID(m demo.Mail) string {
	_, rest, _ := strings.Cut(string(m.Raw), "\r\nMessage-ID: ")
	id, _, _ := strings.Cut(rest, "\r\n")
	return id
}

// TestSwaks: a mail from a program that people test with, before the queue, tagged in the mailbox and otherwise whole.
func TestSwaks(t *testing.T) {
	lab.Need(t, "postfix", "swaks")
	c := newChain(t, "proxy filter")
	out, err := exec.Command("swaks", "--server", c.postfix.Addr, "--from", "a@lab.test", "--to", "b@lab.test", "--ehlo", "swaks.lab.test",
		"--header", "Subject: from swaks", "--add-header", "X-Spamsim: bulk; forged", "--body", "Hello, here is a mail of swaks.\n.dot").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mail := string(c.postfix.WaitMailbox(t, 1)[0])
	if n := strings.Count(mail, "X-Spamsim: "); n != 1 || strings.Contains(mail, "forged") {
		t.Errorf("delivered with %d X-Spamsim fields: %q", n, mail)
	}
	for _, part := range []string{"\nSubject: from swaks\n", "\n\nHello, here is a mail of swaks.\n.dot\n"} {
		if !strings.Contains(mail, part) {
			t.Errorf("delivered without %q: %q", part, mail)
		}
	}
}
