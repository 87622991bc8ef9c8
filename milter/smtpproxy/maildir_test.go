package smtpproxy

import (
	"errors"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spamsim/milter/filter"
)

// inbox returns the names of files in each folder of a maildir.
func inbox(t *testing.T, path, sub string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(path, sub))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestMaildir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in", "box")
	_, addr := start(t, Config{NextHop: "maildir:" + path})
	c, words := hello(t, addr)
	if strings.Contains(words, "DSN") || !strings.Contains(words, "8BITMIME") {
		t.Errorf("EHLO: %q", words)
	}
	r := c.mail(stuff("Subject: x\r\n\r\na\rb\x00\r\n.c\r\n"))
	if !strings.HasPrefix(r, "250 2.0.0 Ok: delivered as ") {
		t.Fatalf("answer: %q", r)
	}
	names := inbox(t, path, "new")
	if len(names) != 1 || !strings.Contains(r, names[0]) {
		t.Fatalf("new: %q, answer %q", names, r)
	}
	got, err := os.ReadFile(filepath.Join(path, "new", names[0]))
	want := "Return-Path: <a@client.test>\nDelivered-To: b@hop.test\nReceived: from client.test ([127.0.0.1])\n\tby proxy.test id " +
		names[0] + ";\n\tDATE\nSubject: x\n\na\rb\x00\n.c\n"
	if err != nil || undated(got) != want {
		t.Errorf("file: %q, %v", got, err)
	}
	if left := inbox(t, path, "tmp"); len(left) > 0 {
		t.Errorf("tmp: %q", left)
	}
}

func TestMaildirUniqueNames(t *testing.T) {
	s := &Server{cfg: Config{Hostname: "a/b:c"}}
	m := &maildir{server: s}
	seen := map[string]bool{}
	for range 1000 {
		n := m.name()
		if seen[n] || strings.ContainsAny(n, "/:") {
			t.Fatalf("name %q", n)
		}
		seen[n] = true
	}
}

// TestMaildirLost: what cannot be made to last is not shown, and the client is told to come back.
func TestMaildirLost(t *testing.T) {
	path := t.TempDir()
	_, addr := start(t, Config{NextHop: "maildir:" + path})
	c, _ := hello(t, addr)
	if err := os.Remove(filepath.Join(path, "new")); err != nil {
		t.Fatal(err)
	}
	if r := c.mail("x\r\n.\r\n"); r != string(replyNextHop) {
		t.Errorf("answer: %q", r)
	}
	if left := inbox(t, path, "tmp"); len(left) > 0 {
		t.Errorf("tmp: %q", left)
	}
	if err := os.Mkdir(filepath.Join(path, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250") {
		t.Errorf("answer: %q", r)
	}
}

// TestMaildirNotSure: a message whose client was told something else meanwhile is not shown, whatever is on disk of it.
func TestMaildirNotSure(t *testing.T) {
	path := t.TempDir()
	m, err := newMaildir(&Server{}, path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.begin()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := d.data(); r != replyReady || err != nil {
		t.Fatalf("%q, %v", r, err)
	}
	if _, err := d.Write([]byte("x\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.commit(func() bool { return false }); !errors.Is(err, errNotSure) {
		t.Errorf("%v", err)
	}
	if left := append(inbox(t, path, "tmp"), inbox(t, path, "new")...); len(left) > 0 {
		t.Errorf("it is there: %q", left)
	}
}

// TestMaildirEnvelope: the judgement's field is on top, the envelope follows, and a message without a header keeps its
// first line as body.
func TestMaildirEnvelope(t *testing.T) {
	path := t.TempDir()
	j := judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " clean;\n\tid=x"}}, Strip: []string{"X-Spamsim"}}
	_, addr := start(t, Config{NextHop: "maildir:" + path, Check: judging(j)})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<>", "RCPT TO:<a@x>", "RCPT TO:<b@x>", "DATA")
	c.say("no header here\r\n\r\nX-Spamsim: body\r\n.\r\n")
	c.want("250")
	name := inbox(t, path, "new")[0]
	got, err := os.ReadFile(filepath.Join(path, "new", name))
	want := "X-Spamsim: clean;\n\tid=x\nReturn-Path: <>\nDelivered-To: a@x\nDelivered-To: b@x\nReceived: from client.test ([127.0.0.1])\n\tby proxy.test id " +
		name + ";\n\tDATE\n\nno header here\n\nX-Spamsim: body\n"
	if err != nil || undated(got) != want {
		t.Errorf("file: %q, %v", got, err)
	}
}

// undated is a message with DATE in the place of a good one in Received.
func undated(raw []byte) string {
	return regexp.MustCompile(`(?m);\n\t(.*)$`).ReplaceAllStringFunc(string(raw), func(s string) string {
		if _, err := mail.ParseDate(s[3:]); err != nil {
			return s
		}
		return ";\n\tDATE"
	})
}

// TestMaildirReceived: nothing that a client says of itself begins another clause, and what is not known is not told.
func TestMaildirReceived(t *testing.T) {
	d := &deposit{dir: &maildir{server: &Server{cfg: Config{Hostname: "here"}}}, name: "name"}
	for _, c := range []struct {
		helo, addr, want string
	}{
		{"mx.example", "192.0.2.1", " from mx.example ([192.0.2.1])\n\tby here id name;\n\tDATE"},
		{"[192.0.2.7]", "2001:db8::1", " from [192.0.2.7] ([IPv6:2001:db8::1])\n\tby here id name;\n\tDATE"},
		{"a by b; (c)\té\n", "192.0.2.1", " from a?by?b???c???? ([192.0.2.1])\n\tby here id name;\n\tDATE"},
		{"", "192.0.2.1", " from unknown ([192.0.2.1])\n\tby here id name;\n\tDATE"},
		{strings.Repeat("x", 300), "192.0.2.1", " from " + strings.Repeat("x", 255) + " ([192.0.2.1])\n\tby here id name;\n\tDATE"},
		{"mx.example", "", " by here id name;\n\tDATE"},
	} {
		fields := d.trace(&filter.Envelope{Helo: c.helo, ClientAddr: c.addr})
		if f := fields[len(fields)-1]; f.Name != "Received" || undated([]byte(f.Value)) != c.want {
			t.Errorf("%+v: %q", c, f)
		}
	}
}
