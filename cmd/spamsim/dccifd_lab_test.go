package main_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// startDccifd starts a daemon that scanners may ask at the address, and no other door.
func startDccifd(t *testing.T, addr string) *lab.Spamsim {
	t.Helper()
	return lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = []\n[dccifd]\nlisten = [%q]\n", addr))
}

// shipped is a file of configs/ for another server, whose address of spamsim is replaced by the lab's.
func shipped(t *testing.T, name, addr string) string {
	t.Helper()
	const usual = "127.0.0.1:10045"
	text, err := os.ReadFile(filepath.Join(root, "configs", name))
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Join(slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "#") // where the address of the other side is told
	}), "")
	if strings.HasSuffix(name, ".pre") {
		return settings
	}
	if strings.Count(settings, usual) != 1 {
		t.Fatalf("%s names %s %d times", name, usual, strings.Count(settings, usual))
	}
	return strings.Replace(settings, usual, addr, 1)
}

// spamassassin is one with the files of configs/spamassassin, and one line more.
func spamassassin(t *testing.T, addr, more string) *lab.SpamAssassin {
	t.Helper()
	return lab.NewSpamAssassin(t, map[string]string{
		"spamsim.pre": shipped(t, "spamassassin/spamsim.pre", addr),
		"spamsim.cf":  shipped(t, "spamassassin/spamsim.cf", addr),
		"test.cf":     more + "\n",
	})
}

// scanned is the stream that scanners see: six near-copies among other mail, some of it too short to judge.
func scanned() []demo.Mail {
	stream, _ := campaign(6, 12)
	for _, m := range demo.Stream(7) {
		if m.Kind == demo.Note {
			stream = append([]demo.Mail{m}, stream...)
		}
	}
	return stream
}

// received is a message as the site's first server hands it on: scanners read of the client there.
func received(m demo.Mail) []byte {
	return fmt.Appendf(nil, "Received: from client.example (client.example [%s])\r\n\tby mx.lab.test (Postfix) with ESMTP id 4B2C9F;\r\n"+
		"\tThu, 1 Jan 2026 00:00:00 +0000 (UTC)\r\n%s", m.Client, m.Raw)
}

// TestSpamAssassin: DCC_CHECK fires on the fifth and the sixth of six near-copies and on nothing else, neither on other
// mail nor on mail that is too short to judge, with Debian's SpamAssassin and rules and the files of configs/.
func TestSpamAssassin(t *testing.T) {
	lab.Need(t, "spamassassin")
	addr := lab.FreeAddr(t)
	startDccifd(t, addr)
	s := spamassassin(t, addr, "")
	if out := s.Lint(t); strings.Contains(out, "spamsim") || strings.Contains(out, "dcc") {
		t.Errorf("spamassassin --lint:\n%s", out)
	}
	var mails [][]byte
	stream := scanned()
	for _, m := range stream {
		mails = append(mails, received(m))
	}
	copies := 0
	for i, out := range s.Check(t, mails) {
		m, bulk, want := stream[i], false, " Body="
		switch m.Kind {
		case demo.Pills:
			copies++
			bulk, want = copies >= 5, fmt.Sprintf(" Body=%[1]d Fuz1=%[1]d Fuz2=%[1]d\n", copies)
		case demo.Note:
			want = " abstain\n"
		}
		if bulk {
			want = " bulk Body=many Fuz1=many Fuz2=many\n"
		}
		if !strings.Contains(out, "\nX-Spam-Bulk: spamsim: mx.lab.test 1;"+want) {
			t.Errorf("%s: want X-Spam-Bulk with%q in:\n%.1000s", m.Subject, want, out)
		}
		tests := lab.Tests(t, out)
		if slices.Contains(tests, "DCC_CHECK") != bulk {
			t.Errorf("%s: fired %s, want DCC_CHECK %v", m.Subject, tests, bulk)
		}
		if strings.Contains(strings.Join(tests, " "), "DCC_REPUT") {
			t.Errorf("%s: fired %s: nobody told a reputation", m.Subject, tests)
		}
	}
	if copies != 6 {
		t.Errorf("%d copies were sent", copies)
	}
}

// TestSpamAssassinAsks: with the option that configs/spamassassin tells of, mail is asked about and not counted; over a
// Unix socket.
func TestSpamAssassinAsks(t *testing.T) {
	lab.Need(t, "spamassassin")
	socket := t.TempDir() + "/dccifd"
	startDccifd(t, "unix:"+socket)
	stream, _ := campaign(6, 0)
	var mails [][]byte
	for _, m := range stream {
		mails = append(mails, received(m))
	}
	for i, out := range spamassassin(t, socket, "dccifd_options query").Check(t, mails) {
		if !strings.Contains(out, "\nX-Spam-Bulk: spamsim: mx.lab.test 1; Body=1 Fuz1=1 Fuz2=1\n") {
			t.Errorf("copy %d, not counted:\n%.1000s", i+1, out)
		}
	}
}

// TestRspamd: DCC_BULK comes with the fifth and the sixth of six near-copies and with nothing else, in Debian's rspamd
// with the file of configs/.
func TestRspamd(t *testing.T) {
	lab.Need(t, "rspamd")
	addr := lab.FreeAddr(t)
	startDccifd(t, addr)
	r := lab.StartRspamd(t, "dcc", shipped(t, "rspamd/dcc.conf", addr))
	copies := 0
	for _, m := range scanned() {
		if m.Kind == demo.Pills {
			copies++
		}
		symbols := r.Check(t, lab.Scan{IP: m.Client, Helo: "client.example", From: m.From, Rcpt: []string{m.To}}, m.Raw)
		found, bulk := symbols["DCC_BULK"]
		if want := m.Kind == demo.Pills && copies >= 5; bulk != want || len(symbols) > 1 {
			t.Errorf("%s: symbols %v, want DCC_BULK %v", m.Subject, symbols, want)
		}
		if bulk && (found.Score < 0.99 || !slices.Equal(found.Options, []string{"body=many", "fuz1=many", "fuz2=many"})) {
			t.Errorf("%s: %+v", m.Subject, found)
		}
	}
	if copies != 6 {
		t.Errorf("%d copies were sent", copies)
	}
}

// TestDccifdAsksOnly: with learn = false what scanners ask about leaves no trace; the daemon counts it in its own counters.
func TestDccifdAsksOnly(t *testing.T) {
	addr := lab.FreeAddr(t)
	d := lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = []\n[dccifd]\nlisten = [%q]\nlearn = false\n", addr))
	stream, _ := campaign(6, 0)
	for i, m := range stream {
		want := "A\nA\nX-DCC-spamsim-Metrics: mx.lab.test 1; Body=1 Fuz1=1 Fuz2=1\n\n"
		if got := askDccifd(t, addr, m); got != want {
			t.Errorf("copy %d: answered %q, want %q", i+1, got, want)
		}
	}
	if out := d.Run("stats"); !strings.Contains(out, "dccifd") {
		t.Errorf("spamsim stats tells nothing of the door:\n%s", out)
	}
}

// askDccifd sends a message as rspamd does, and returns the answer.
func askDccifd(t *testing.T, addr string, m demo.Mail) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(lab.Patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "header\n%s\nclient.example\n%s\n%s\n\n%s", m.Client, m.From, m.To, m.Raw)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
