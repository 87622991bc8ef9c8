package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
)

// A pair is a certificate for a name and its key, in files of a folder; it is its own authority.
type pair struct{ certificate, key string }

func newPair(t *testing.T, name string) pair {
	t.Helper()
	dir := t.TempDir()
	p := pair{filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")}
	p.write(t, name)
	return p
}

// write puts a new certificate in the place of the old one.
func (p pair) write(t *testing.T, name string) {
	t.Helper()
	p.writeFor(t, name, 90*24*time.Hour)
}

// writeFor writes one that is good for so long from now.
func (p pair) writeFor(t *testing.T, name string, life time.Duration) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{p.certificate: {Type: "CERTIFICATE", Bytes: der}, p.key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// section is the configuration that offers STARTTLS with it.
func (p pair) section() string {
	return fmt.Sprintf("[tls]\ncertificate = %q\nkey = %q\n", p.certificate, p.key)
}

// names does a handshake after STARTTLS and returns what the certificate is for.
func names(t *testing.T, addr string) []string {
	t.Helper()
	c := lab.Dial(t, addr)
	c.Must("EHLO client.example", "STARTTLS")
	conn := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}) // whose it is, is looked at by the caller
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].DNSNames
}

// TestCertificateIsReadAgain: a new certificate serves the next client, and one that is no good changes nothing.
func TestCertificateIsReadAgain(t *testing.T) {
	p := newPair(t, "old.example")
	d := start(t, testConfig(t, p.section()))
	addr := d.smtp[0].String()
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "old.example"},
		{func() { p.write(t, "new.example") }, "new.example"},
		{func() { _ = os.WriteFile(p.key, []byte("rubbish"), 0o600) }, "new.example"},
		{func() { _ = os.Remove(p.certificate) }, "new.example"},
		{func() { p.write(t, "newest.example") }, "newest.example"},
	} {
		step.do()
		if got := names(t, addr); !slices.Equal(got, []string{step.want}) {
			t.Errorf("the certificate is for %q, want %q", got, step.want)
		}
	}
}

// TestBadCertificate: a daemon that was told to offer TLS does not start without it.
func TestBadCertificate(t *testing.T) {
	p := newPair(t, "mx.example")
	if err := os.WriteFile(p.key, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{
		p.section(),
		"[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://127.0.0.1:1\"\nnext_hop_tls = \"require\"\nnext_hop_ca = \"/nonexistent\"\n",
		fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://127.0.0.1:1\"\nnext_hop_tls = \"require\"\nnext_hop_ca = %q\n", p.key),
	} {
		if d, err := startDaemon(testConfig(t, more), slog.New(slog.DiscardHandler)); err == nil {
			_ = d.stop(time.Second)
			t.Errorf("started with\n%s", more)
		}
	}
}

// TestNextHopTLS: one daemon is the next hop of the other. Mail goes through where the certificate is good for the name,
// and nowhere else, in plain text neither.
func TestNextHopTLS(t *testing.T) {
	p := newPair(t, "inner.example")
	inner := testConfig(t, p.section())
	hop := start(t, inner).smtp[0].String()
	for _, c := range []struct {
		name, ca string
		taken    bool
	}{
		{"inner.example", p.certificate, true},
		{"other.example", p.certificate, false},
		{"inner.example", newPair(t, "inner.example").certificate, false},
		{"", p.certificate, false}, // 127.0.0.1, for which it is not
	} {
		outer := start(t, testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n"+
			"next_hop_tls = \"require\"\nnext_hop_name = %q\nnext_hop_ca = %q\n", hop, c.name, c.ca)))
		before := len(delivered(t, inner))
		reply := lab.Send(t, outer.smtp[0].String(), "a@x.example", []string{"b@site.example"}, []byte("Subject: x\r\n\r\nx\r\n"))
		if taken := reply[0] == '2'; taken != c.taken || len(delivered(t, inner)) > before != c.taken {
			t.Errorf("%+v: %q", c, reply)
		}
	}
	plain := lab.StartSink(t, lab.SinkConfig{})
	outer := start(t, testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\nnext_hop_tls = \"require\"\n", plain.Addr)))
	if reply := lab.Send(t, outer.smtp[0].String(), "a@x.example", []string{"b@site.example"}, []byte("x")); reply[0] != '4' || len(plain.Mails()) > 0 {
		t.Errorf("a next hop without TLS: %q", reply)
	}
}

// TestLMTPDoor: an answer for each recipient, the next hop's own.
func TestLMTPDoor(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{Answer: func(line string) string {
		if line == "RCPT TO:<no@site.example>" {
			return "550 5.1.1 nobody"
		}
		return ""
	}})
	d := start(t, testConfig(t, fmt.Sprintf("[smtp]\nlisten = []\nlmtp_listen = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n", sink.Addr)))
	c := lab.Dial(t, d.smtp[0].String())
	if reply := c.Do("EHLO x"); reply[0] != '5' {
		t.Errorf("EHLO to LMTP: %q", reply)
	}
	c.Must("LHLO x", "MAIL FROM:<a@x.example>", "RCPT TO:<one@site.example>", "RCPT TO:<two@site.example>")
	if reply := c.Do("RCPT TO:<no@site.example>"); reply != "550 5.1.1 nobody" {
		t.Errorf("RCPT: %q", reply)
	}
	c.Must("DATA")
	for _, reply := range []string{c.Content([]byte("Subject: x\r\n\r\nx\r\n")), c.Reply()} {
		if reply != "250 2.0.0 Ok: kept" {
			t.Errorf("answer to a recipient: %q", reply)
		}
	}
	if got := sink.Wait(t, 1)[0]; len(got.To) != 2 || !strings.HasPrefix(string(got.Content), "X-Spamsim: ") {
		t.Errorf("delivered %+v", got)
	}
}

// TestProxyProtocol: behind a load balancer the client's address is the one in the header, and trust goes by it.
func TestProxyProtocol(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{})
	d := start(t, testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\n"+
		"trusted = [\"192.0.2.0/24\"]\nrecipient_domains = [\"site.example\"]\nproxy_protocol = [\"127.0.0.1\"]\n", sink.Addr)))
	for _, c := range []struct{ header, rcpt string }{
		{"PROXY TCP4 192.0.2.7 198.51.100.1 4242 25\r\n", "250 2.0.0 ok"},
		{"PROXY TCP4 203.0.113.9 198.51.100.1 4242 25\r\n", "550 5.7.1 Relay access denied"},
		{"", ""}, // turned away before the greeting
	} {
		said := says(t, d.smtp[0].String(), c.header+"HELO x\r\nMAIL FROM:<a@x.example>\r\nRCPT TO:<b@foreign.example>\r\nQUIT\r\n")
		if got := append(said, "", "", "", "")[3]; got != c.rcpt {
			t.Errorf("%q: RCPT was answered %q, want %q, in %q", c.header, got, c.rcpt, said)
		}
	}
}

// says sends all at once and returns what is answered, line by line.
func says(t *testing.T, addr, text string) (lines []string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(conn); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// TestXclientAndAuth: the two settings reach the proxy: the next hop hears of the client, and a password goes to it.
func TestXclientAndAuth(t *testing.T) {
	sink := lab.StartSink(t, lab.SinkConfig{
		Offer: []string{"PIPELINING", "XCLIENT ADDR HELO", "AUTH PLAIN"},
		Answer: func(line string) string {
			switch {
			case strings.HasPrefix(line, "XCLIENT "):
				return "220 sink"
			case line == "AUTH PLAIN secret":
				return "235 2.7.0 welcome"
			}
			return ""
		}})
	d := start(t, testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\nxclient = true\nauth = true\n", sink.Addr)))
	c := lab.Dial(t, d.smtp[0].String())
	if reply := c.Do("EHLO client.example"); !strings.Contains(reply, "AUTH PLAIN") {
		t.Errorf("EHLO: %q", reply)
	}
	if reply := c.Do("AUTH PLAIN secret"); reply != "235 2.7.0 welcome" {
		t.Errorf("AUTH: %q", reply)
	}
	c.Must("MAIL FROM:<a@x.example>", "RCPT TO:<b@site.example>", "DATA")
	if reply := c.Content([]byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
		t.Error(reply)
	}
	if got := string(sink.Wait(t, 1)[0].Content); !strings.HasPrefix(got, "X-Spamsim: exempt; reason=outbound;") && !strings.HasPrefix(got, "X-Spamsim: abstain;") {
		t.Errorf("delivered %q", got)
	}
	if !slices.Contains(sink.Lines(), "XCLIENT HELO=client.example ADDR=127.0.0.1") {
		t.Errorf("the next hop heard %q", sink.Lines())
	}
}

// TestStrangersWaitForTheNextHop: a daemon that is open to the world starts while its next hop is down, and lets nobody's mail
// in before that has shown that it hears of clients.
func TestStrangersWaitForTheNextHop(t *testing.T) {
	hop := lab.FreeAddr(t)
	d := start(t, testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"smtp://%s\"\nxclient = true\ntrusted = [\"192.0.2.1\"]\n", hop)))
	greets := func() string {
		said := says(t, d.smtp[0].String(), "EHLO x\r\nQUIT\r\n")
		return append(said, "", "")[1]
	}
	if got := greets(); got != "421 4.3.0 Next hop not available, try again later" {
		t.Errorf("while it is down: %q", got)
	}
	for _, c := range []struct {
		offer []string
		want  string
	}{
		{[]string{"PIPELINING"}, "421 4.3.0 Next hop not available, try again later"},
		{[]string{"XCLIENT ADDR"}, "250-mx.example"},
	} {
		sink := lab.StartSink(t, lab.SinkConfig{Addr: hop, Offer: c.offer, Answer: func(line string) string {
			if strings.HasPrefix(line, "XCLIENT ") {
				return "220 sink"
			}
			return ""
		}})
		if got := greets(); got != c.want {
			t.Errorf("once it offers %q: %q", c.offer, got)
		}
		sink.Close()
	}
}

// TestDoorsFailTogether: an address that is taken leaves no door open.
func TestDoorsFailTogether(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = startDaemon(testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nlmtp_listen = [%q]\n", l.Addr())), slog.New(slog.DiscardHandler))
	var op *net.OpError
	if !errors.As(err, &op) || !strings.HasPrefix(err.Error(), "lmtp: ") {
		t.Errorf("%v", err)
	}
}
