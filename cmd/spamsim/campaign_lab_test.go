package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
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

// newChain puts the daemon at a door of Postfix, as the pieces of configs/postfix have it. It starts first: Postfix asks a
// milter at once.
func newChain(t *testing.T, door string) *chain {
	t.Helper()
	return newChainWith(t, door, "")
}

// newChainWith is newChain with more lines at the top of spamsim.toml, and of main.cf.
func newChainWith(t *testing.T, door, settings string, main ...string) *chain {
	t.Helper()
	lab.Need(t, "postfix")
	p := newPorts(t)
	c := lab.PostfixConfig{Addr: p.addr("25"), Inject: p.addr("10026"), Main: []string{
		"mynetworks = 127.0.0.0/8, 198.18.0.0/15"}} // the demonstration's senders may relay
	toml := p.piece(t, "postfix/proxy.toml")
	var master string
	switch door {
	case "proxy filter":
		master = p.piece(t, "postfix/before-queue.master.cf")
	case "content filter":
		master = p.piece(t, "postfix/after-queue.master.cf")
		c.Main = append(c.Main, p.piece(t, "postfix/after-queue.main.cf"))
	case "milter":
		socket := socketOfPostfix(t)
		toml = strings.ReplaceAll(p.piece(t, "postfix/milter.toml"), "/var/spool/postfix/spamsim/milter.sock", socket)
		c.Main = append(c.Main, strings.ReplaceAll(p.piece(t, "postfix/milter.main.cf"), "unix:spamsim/milter.sock", "unix:"+socket))
	}
	c.Main = append(c.Main, main...)
	c.Master = strings.Split(strings.Replace(master, "smtp inet", c.Addr+" inet", 1), "\n")
	toml = strings.Replace(toml, "state_dir", "# state_dir", 1)
	return &chain{spamsim: lab.StartSpamsim(t, settings+toml), postfix: lab.StartPostfix(t, c)}
}

// socketOfPostfix is where a socket belongs to Postfix's group, whoever makes it.
func socketOfPostfix(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "spamsim-milter-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	group, err := user.LookupGroup("postfix")
	if err != nil {
		t.Fatal(err)
	}
	gid, _ := strconv.Atoi(group.Gid)
	if err := errors.Join(os.Chown(dir, -1, gid), os.Chmod(dir, os.ModeSetgid|0o750)); err != nil {
		t.Fatal(err)
	}
	return dir + "/milter.sock"
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
	c.postfix.Drain(t)
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
