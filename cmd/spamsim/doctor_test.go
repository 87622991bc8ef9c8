package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/doctor"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/smtpproxy"
)

// says tells whether a finding of the level, on a leg that begins so, has the words.
func (d diagnosis) says(leg string, l doctor.Level, words string) bool {
	for _, f := range d.Findings {
		if strings.HasPrefix(f.Leg, leg) && f.Level == l && strings.Contains(f.Text, words) {
			return true
		}
	}
	return false
}

// wants fails the test where something is not said.
func (d diagnosis) wants(t *testing.T, leg string, l doctor.Level, words string) {
	t.Helper()
	if !d.says(leg, l, words) {
		t.Errorf("%s: %s: %q is not said in:", leg, l, words)
		for _, f := range d.Findings {
			t.Logf("  %s: %s: %s", f.Leg, f.Level, f.Text)
		}
	}
}

// noPostfix puts one without services in the place of a Postfix of this host, which would have its say.
func noPostfix(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	past := time.Now().Add(-time.Minute) // Postfix waits two seconds rather than read a file that may still be changing
	for _, file := range []string{"main.cf", "master.cf"} {
		file = filepath.Join(dir, file)
		if err := os.WriteFile(file, []byte("# empty\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, past, past); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("MAIL_CONFIG", dir)
}

// TestDoctorWell: every door is open, the next hop offers all: nothing is dangerous, and nothing was sent.
func TestDoctorWell(t *testing.T) {
	noPostfix(t)
	sink := lab.StartSink(t, lab.SinkConfig{})
	p := newPair(t, "mx.example")
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nlmtp_listen = [%q]\nnext_hop = \"smtp://%s\"\n[milter]\nlisten = [%q]\n[dccifd]\nlisten = [%q]\n%s",
		lab.FreeAddr(t), lab.FreeAddr(t), sink.Addr, lab.FreeAddr(t), lab.FreeAddr(t), p.section()))
	d := start(t, conf)
	got := diagnose(t.Context(), conf)
	if got.Dangerous {
		t.Error("something is dangerous")
	}
	for _, w := range []struct{ leg, words string }{
		{"daemon", "runs since"}, {"configuration", "mode observe"}, {"state", "spamsim.db, mode 0600"}, {"state", "mode 0660"},
		{"smtp 127", "offers 8BITMIME"}, {"smtp 127", "on loopback"}, {"smtp 127", "\"mx.example\""},
		{"lmtp 127", "offers 8BITMIME"}, {"milter", "version 6"}, {"dccifd", "answers"},
		{"next hop smtp", "XFORWARD is allowed"},
	} {
		got.wants(t, w.leg, doctor.Good, w.words)
	}
	for _, leg := range []string{"smtp 127", "lmtp", "next hop", "state", "daemon"} {
		if got.says(leg, doctor.Lost, "") || got.says(leg, doctor.Danger, "") {
			got.wants(t, leg, doctor.Good, "nothing lost")
		}
	}
	if n := len(sink.Mails()); n != 0 || d.store.Stats().Messages != 0 {
		t.Errorf("%d mails sent, %d counted", n, d.store.Stats().Messages)
	}
}

// TestDoctorLosses: what a next hop lacks, what it forbids, and what it demands.
func TestDoctorLosses(t *testing.T) {
	noPostfix(t)
	bare := lab.StartSink(t, lab.SinkConfig{Offer: []string{"XFORWARD ADDR", "PIPELINING"}, Answer: func(line string) string {
		if strings.HasPrefix(line, "XFORWARD") {
			return "550 5.7.0 Error: insufficient authorization"
		}
		return ""
	}})
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\nauth = true\ntrusted = [\"192.0.2.0/24\"]\n"+
		"recipient_domains = [\"site.example\"]\n", lab.FreeAddr(t), bare.Addr))
	start(t, conf)
	got := diagnose(t.Context(), conf)
	for _, w := range []struct {
		leg   string
		level doctor.Level
		words string
	}{
		{"smtp", doctor.Lost, "no 8BITMIME: the next hop does not offer it"}, {"smtp", doctor.Lost, "no XFORWARD for this host"},
		{"smtp", doctor.Good, "a foreign recipient from a stranger (from 127.0.0.1) is refused: 550 5.7.1 Relay access denied"},
		{"next hop", doctor.Lost, "no SMTPUTF8"}, {"next hop", doctor.Lost, "no DSN"}, {"next hop", doctor.Lost, "no SIZE"},
		{"next hop", doctor.Lost, "XFORWARD is offered and refused: 550 5.7.0"},
		{"next hop", doctor.Lost, "AUTH is not offered"},
	} {
		got.wants(t, w.leg, w.level, w.words)
	}
	for setting, words := range map[string]string{"xclient = true": "XCLIENT is not offered",
		"next_hop_proxy = \"v1\"": "EHLO mx.example is answered 500", "next_hop_proxy = \"v2\"": "EHLO mx.example is answered 500"} {
		blind := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\n%s\n", lab.FreeAddr(t), bare.Addr, setting))
		if d, err := startDaemon(blind, slog.New(slog.DiscardHandler)); !errors.Is(err, smtpproxy.ErrBlind) {
			t.Errorf("%s: started: %v", setting, err)
			if err == nil {
				_ = d.stop(time.Second)
			}
		}
		diagnose(t.Context(), blind).wants(t, "next hop", doctor.Danger, words)
	}
	plain := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\nnext_hop = \"smtp://%s\"\nnext_hop_tls = \"require\"\n", lab.FreeAddr(t), bare.Addr))
	start(t, plain)
	diagnose(t.Context(), plain).wants(t, "next hop", doctor.Danger, "STARTTLS is answered 500")
}

// TestDoctorOpenRelay: a listener that takes foreign recipients from a stranger, in the place of ours.
func TestDoctorOpenRelay(t *testing.T) {
	noPostfix(t)
	open := lab.StartSink(t, lab.SinkConfig{})
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\ntrusted = [\"192.0.2.0/24\"]\n", open.Addr))
	got := diagnose(t.Context(), conf)
	got.wants(t, "smtp", doctor.Danger, "A FOREIGN RECIPIENT WAS TAKEN from a stranger (from 127.0.0.1)")
	if !got.Dangerous || len(open.Mails()) > 0 {
		t.Errorf("dangerous %v, %d mails", got.Dangerous, len(open.Mails()))
	}
}

// TestDoctorStrangers: every way by which a stranger is played, and where none can be.
func TestDoctorStrangers(t *testing.T) {
	noPostfix(t)
	sink := lab.StartSink(t, lab.SinkConfig{})
	for _, c := range []struct {
		listen, more string
		level        doctor.Level
		words        string
	}{
		{"127.0.0.1", "trusted = [\"127.0.0.1\"]", doctor.Good, "a foreign recipient from a stranger (from 127.0.0.2) is refused: the connection is answered 554"},
		{"127.0.0.1", "proxy_protocol = [\"127.0.0.0/8\"]\ntrusted = [\"10.0.0.0/8\"]\nrecipient_domains = [\"site.example\"]", doctor.Good,
			"(the PROXY header says 192.0.2.1) is refused: 550 5.7.1 Relay access denied"},
		{"127.0.0.1", "", doctor.Good, "on loopback"},
		{"0.0.0.0", "trusted = [\"127.0.0.1\"]\nrecipient_domains = [\"site.example\"]", doctor.Lost, "open to the network without smtp.xclient or smtp.next_hop_proxy"},
	} {
		_, port, _ := strings.Cut(lab.FreeAddr(t), ":")
		conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"%s:%s\"]\nnext_hop = \"smtp://%s\"\n%s\n", c.listen, port, sink.Addr, c.more))
		start(t, conf)
		diagnose(t.Context(), conf).wants(t, "smtp", c.level, c.words)
	}
}

// TestDoctorCertificate: one that ends soon, and one that has.
func TestDoctorCertificate(t *testing.T) {
	noPostfix(t)
	p := newPair(t, "mx.example")
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [%q]\n%s", lab.FreeAddr(t), p.section()))
	start(t, conf)
	p.writeFor(t, "mx.example", 24*time.Hour)
	diagnose(t.Context(), conf).wants(t, "smtp", doctor.Lost, "the certificate of [\"mx.example\"] ends on ")
	p.writeFor(t, "mx.example", -time.Minute)
	diagnose(t.Context(), conf).wants(t, "smtp", doctor.Danger, "the certificate of [\"mx.example\"] ended on ")
}

// TestDoctorFiles: modes that let others in, a store that is none, no daemon.
func TestDoctorFiles(t *testing.T) {
	noPostfix(t)
	conf := testConfig(t, "")
	for _, dir := range []string{conf.StateDir, quarantineDir(conf)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(conf.Store.Path, []byte("This is no store."), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{conf.StateDir: 0o777, conf.Store.Path: 0o644} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	got := diagnose(t.Context(), conf)
	for _, w := range []struct{ leg, words string }{
		{"daemon", "none runs on this store"}, {"store", conf.Store.Path}, {"smtp", "nobody answers"},
		{"state", "mode 0777: anybody could put files there. chmod 0775 " + conf.StateDir},
		{"state", "mode 0644: anybody could read or change what is counted. chmod 0640 " + conf.Store.Path},
		{"state", "mode 0755: others could read mail. chmod 0700 " + quarantineDir(conf)},
	} {
		got.wants(t, w.leg, doctor.Danger, w.words)
	}
}

// TestDoctorMaildirs: those of the next hop and of the quarantine, before serve has made them, then, and once one is gone beneath it.
func TestDoctorMaildirs(t *testing.T) {
	noPostfix(t)
	mail := filepath.Join(t.TempDir(), "mail")
	conf := testConfig(t, fmt.Sprintf("mode = \"enforce\"\n[smtp]\nlisten = [%q]\nnext_hop = \"maildir:%s\"\n[actions]\nbulk = \"quarantine\"\n",
		lab.FreeAddr(t), mail))
	got := diagnose(t.Context(), conf)
	got.wants(t, "next hop", doctor.Good, "not there yet")
	got.wants(t, "quarantine", doctor.Good, "not there yet")
	start(t, conf)
	got = diagnose(t.Context(), conf)
	got.wants(t, "next hop", doctor.Good, "can be written")
	got.wants(t, "quarantine", doctor.Good, "can be written")
	for _, gone := range []string{mail + "/new", mail, quarantineDir(conf) + "/envelope", quarantineDir(conf)} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
		got = diagnose(t.Context(), conf)
		got.wants(t, "next hop", doctor.Danger, "cannot be written: ")
		if strings.HasPrefix(gone, quarantineDir(conf)) {
			got.wants(t, "quarantine", doctor.Lost, "cannot be written: ")
		}
	}
}

// TestDoctorOfAnotherUser: the daemon is not said to be gone where it may not be asked.
func TestDoctorOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root becomes another user")
	}
	conf := testConfig(t, "")
	start(t, conf)
	got := make(chan diagnosis)
	go func() {
		runtime.LockOSThread() // its thread alone is another user's, and ends with it
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
		}
		got <- diagnosis{Findings: memory(t.Context(), conf)}
	}()
	(<-got).wants(t, "daemon", doctor.Unknown, "run doctor as the daemon's user")
}

// TestDoctorPrints: people and scripts get the same.
func TestDoctorPrints(t *testing.T) {
	d := diagnosis{Config: "x.toml", Dangerous: true, Findings: []doctor.Finding{{Leg: "smtp 1", Level: doctor.Good, Text: "a"},
		{Leg: "smtp 1", Level: doctor.Danger, Text: "b\x1b"}, {Leg: "next hop", Level: doctor.Unknown, Text: "c"}},
		Postfix: []doctor.Advice{{Title: "as a milter", File: "main.cf", Lines: []string{"x = y"}}}}
	var b bytes.Buffer
	if err := (&app{stdout: &b}).diagnosis(d); err != nil {
		t.Fatal(err)
	}
	want := "smtp 1\n  ok       a\n  danger   b\ufffd\nnext hop\n  unknown  c\n\nPostfix, as a milter: add to main.cf\n  x = y\n\nsomething is dangerous: see above\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	var back diagnosis
	if err := (&app{stdout: &b}).json(d); err != nil || json.Unmarshal(b.Bytes(), &back) != nil || back.Findings[1] != d.Findings[1] {
		t.Errorf("%v in %s", err, b.String())
	}
}
