package smtpproxy

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// certificate makes one for 127.0.0.1 and returns both sides' configuration.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
}

// encrypted goes on over TLS.
func (c *talk) encrypted(config *tls.Config) *talk {
	c.t.Helper()
	conn := tls.Client(c.Conn, config)
	if err := conn.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	return &talk{conn, c.t, bufio.NewReader(conn)}
}

func TestStartTLS(t *testing.T) {
	server, client := certificate(t)
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), TLS: server, BareLF: RejectBareLF})
	c, words := hello(t, addr)
	if !strings.Contains(words, "250-STARTTLS\r\n") {
		t.Errorf("EHLO: %q", words)
	}
	c.do("XFORWARD ADDR=192.0.2.1")
	// What stands behind STARTTLS in plain text is not heard, within TLS neither.
	c.say("STARTTLS\r\nMAIL FROM:<evil@x>\r\n")
	c.want("220 2.0.0")
	s := c.encrypted(client)
	s.say("MAIL FROM:<a@client.test>\r\n")
	s.want(string(replyNoHello))
	s.say("EHLO client.test\r\n")
	if words := s.want("250"); strings.Contains(words, "STARTTLS") {
		t.Errorf("EHLO within TLS: %q", words)
	}
	s.say("STARTTLS\r\n")
	s.want(string(replyHasTLS))
	// The content rules hold within TLS as they do without.
	content := strings.Repeat("x", 3000) + "\x00\r\n.\r\n"
	if r := s.mail(stuff(content)); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
	if r := s.mail("a\n.\nb\r\n.\r\n"); r != string(replyBareLF) {
		t.Errorf("answer: %q", r)
	}
	s.do("QUIT")
	if m := hop.mails(); len(m) != 1 || string(m[0].content) != content {
		t.Errorf("arrived %+v", m)
	}
	if said := strings.Join(hop.lines(), "|"); strings.Contains(said, "evil") || strings.Contains(said, "XFORWARD") {
		t.Errorf("said %s", said)
	}
}

func TestStartTLSOutOfOrder(t *testing.T) {
	server, _ := certificate(t)
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), TLS: server})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@b>")
	c.say("STARTTLS\r\n")
	c.want(string(replyInMail))
	c.do("RSET", "STARTTLS")
	c.say("this is no TLS\r\n")
	for c.reply() != "" { // an alert
	}
	eventually(t, "it is gone", func() bool { return s.Stats().Open == 0 })
	_, addr = start(t, Config{NextHop: hop.url()})
	c, words := hello(t, addr)
	if strings.Contains(words, "STARTTLS") {
		t.Errorf("EHLO: %q", words)
	}
	c.say("STARTTLS\r\n")
	c.want(string(replyNotHere))
}

// startTLS runs a proxy whose listener speaks TLS at once.
func startTLS(t *testing.T, c Config, server *tls.Config) (*Server, string) {
	t.Helper()
	c.Trusted = loopback
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		<-served
	})
	return s, l.Addr().String()
}

// dialTLS connects to it.
func dialTLS(t *testing.T, addr string, client *tls.Config) *talk {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", addr, client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &talk{conn, t, bufio.NewReader(conn)}
	c.want("220")
	return c
}

// TestImplicitTLS: a listener that speaks TLS at once.
func TestImplicitTLS(t *testing.T) {
	server, client := certificate(t)
	hop := newFake(t, nil)
	_, addr := startTLS(t, Config{NextHop: hop.url(), TLS: server}, server)
	c := dialTLS(t, addr, client)
	c.say("EHLO x\r\n")
	if words := c.want("250"); strings.Contains(words, "STARTTLS") {
		t.Errorf("EHLO: %q", words)
	}
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
}

// TestSilentBeforeHandshake: a client that says nothing to a listener of TLS is not waited for by the others, is sent away for
// them, and does not keep the proxy from ending.
func TestSilentBeforeHandshake(t *testing.T) {
	server, client := certificate(t)
	hop := newFake(t, nil)
	s, addr := startTLS(t, Config{NextHop: hop.url(), MaxConns: 1}, server)
	first := dialTLS(t, addr, client)
	dialTalk(t, addr).wantEnd() // one too many
	first.do("QUIT")
	eventually(t, "the first leaves", func() bool { return s.Stats().Open == 0 })
	dialTLS(t, addr, client).do("QUIT")
	eventually(t, "so does the next", func() bool { return s.Stats().Open == 0 })

	silent := dialTalk(t, addr)
	eventually(t, "the silent one is in", func() bool { return s.Stats().Open == 1 })
	eventually(t, "it is waited for", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.clients {
			c.mu.Lock()
			defer c.mu.Unlock()
			return !c.since.IsZero()
		}
		return false
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	silent.wantEnd()
}

// TestNextHopTLS: the connection to the next hop is encrypted, or there is none.
func TestNextHopTLS(t *testing.T) {
	server, client := certificate(t)
	hop := newFake(t, func(f *fake) { f.tls = server })
	_, addr := start(t, Config{NextHop: hop.url(), NextHopTLS: &tls.Config{RootCAs: client.RootCAs}})
	c, _ := hello(t, addr)
	for range 2 {
		if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Errorf("answer: %q", r)
		}
	}
	if m := hop.mails(); len(m) != 2 || !m[0].secure || !m[1].secure {
		t.Errorf("arrived %+v", m)
	}
	for name, hop := range map[string]*fake{
		"not offered": newFake(t, func(f *fake) { f.offer = []string{"PIPELINING"} }),
		"refused": newFake(t, func(f *fake) {
			f.answer = func(_ int, l string) string { return map[string]string{"STARTTLS": "454 no"}[l] }
		}),
		"not trusted": newFake(t, func(f *fake) { f.tls, _ = certificate(t) }),
		"not TLS":     newFake(t, nil),
		"injected text": newFake(t, func(f *fake) {
			f.tls = server
			f.answer = func(_ int, l string) string { return map[string]string{"STARTTLS": "220 go\n250 ok"}[l] }
		}),
	} {
		_, addr := start(t, Config{NextHop: hop.url(), NextHopTLS: &tls.Config{RootCAs: client.RootCAs}, Timeouts: soon})
		c := dialTalk(t, addr)
		c.want("220")
		c.say("EHLO x\r\n")
		if r := c.reply(); r != string(replyNoNextHop) {
			t.Errorf("%s: %q", name, r)
		}
	}
}

// TestClientCertificate: who shows one that is accepted may send to anybody.
func TestClientCertificate(t *testing.T) {
	server, client := certificate(t)
	own, _ := certificate(t)
	leaf, err := x509.ParseCertificate(own.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	server.ClientCAs = x509.NewCertPool()
	server.ClientCAs.AddCert(leaf)
	server.ClientAuth = tls.VerifyClientCertIfGiven
	hop := newFake(t, nil)
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), TLS: server, Check: got.check, RecipientDomains: []string{"ours.test"}})
	for _, certified := range []bool{false, true} {
		c, _ := hello(t, addr)
		c.do("STARTTLS")
		config := client.Clone()
		if certified {
			config.Certificates = own.Certificates
		}
		s := c.encrypted(config)
		s.do("EHLO x", "MAIL FROM:<a@b>", "RCPT TO:<a@ours.test>")
		s.say("RCPT TO:<a@theirs.test>\r\n")
		if r := s.reply(); strings.HasPrefix(r, "250") != certified {
			t.Errorf("certified %v: %q", certified, r)
		}
		s.do("DATA")
		s.say(".\r\n")
		s.want("250")
		if e := got.envs[len(got.envs)-1]; e.Authenticated != certified {
			t.Errorf("%+v", e)
		}
	}
}
