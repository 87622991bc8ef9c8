package smtpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
)

// TestUntrustedPeers: without domains of its own, a proxy talks to trusted peers alone.
func TestUntrustedPeers(t *testing.T) {
	hop := newFake(t, nil)
	var log bytes.Buffer
	s, addr := start(t, Config{NextHop: hop.url(), Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c := dialTalk(t, addr)
	c.want(string(replyDenied))
	c.wantEnd()
	if st := s.Stats(); st.Denied != 1 || st.Connections != 0 || st.Open != 0 {
		t.Errorf("%+v", st)
	}
	_ = s.Close() // nobody writes to the log any more
	if text := log.String(); strings.Count(text, "msg=refused door=smtp client=127.0.0.1 ") != 1 || !strings.Contains(text, "reply=\"554") {
		t.Errorf("log: %s", text)
	}
}

// TestRecipientDomains: other peers may send to these, with no other address hidden in the local part, and their word
// about a client is not taken.
func TestRecipientDomains(t *testing.T) {
	hop := newFake(t, nil)
	var log bytes.Buffer
	s, addr := start(t, Config{NextHop: hop.url(), RecipientDomains: []string{"Ours.test", ".below.test"}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c, words := hello(t, addr)
	if strings.Contains(words, "XFORWARD") {
		t.Errorf("EHLO: %q", words)
	}
	c.say("XFORWARD ADDR=192.0.2.1\r\n")
	c.want("550 5.7.0")
	c.do("MAIL FROM:<a@b>")
	denied := 0
	for to, ok := range map[string]bool{
		"a@ours.test": true, "a@OURS.TEST": true, "a@ours.test.": true, "a@x.below.test": true, "Postmaster": true, `"a b"@ours.test`: true,
		"@theirs.test:a@ours.test": true,
		"a@theirs.test":            false, "a@below.test": false, "a@xours.test": false, "a@ours.test.evil": false, "a@[127.0.0.1]": false,
		"a%theirs.test@ours.test": false, "theirs.test!a@ours.test": false, `"a@theirs.test"@ours.test`: false, "a@theirs.test@ours.test": false,
		"@ours.test:a@theirs.test": false, `"a@theirs.test"`: false, "a%theirs.test": false,
	} {
		c.say("RCPT TO:<" + to + ">\r\n")
		r := c.reply()
		if ok && !strings.HasPrefix(r, "250") || !ok && r != string(replyNoRelay) {
			t.Errorf("%s: %q", to, r)
		}
		if !ok {
			denied++
		}
	}
	if st := s.Stats(); st.Denied != int64(denied) {
		t.Errorf("%d denied, %+v", denied, st)
	}
	for _, to := range []string{"<a@ours.test>@theirs.test", "<a@ours.test>b@theirs.test", "<a@ours.test>,<b@theirs.test>"} {
		c.say("RCPT TO:" + to + "\r\n")
		c.want("501 5.5.4")
	}
	c.say("RCPT TO:<a@ours.test> NOTIFY=NEVER\r\n")
	c.want("250")
	_ = s.Close()
	if text := log.String(); strings.Count(text, "msg=refused ") != denied || !strings.Contains(text, "client=127.0.0.1 sender=a@b recipient=a@theirs.test reply=\"550") {
		t.Errorf("%d were denied, log: %s", denied, text)
	}
}

func TestConnectionLimits(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxConns: 3})
	for range 3 {
		hello(t, addr)
	}
	c := dialTalk(t, addr)
	c.want(string(replyBusy))
	c.wantEnd()
	if st := s.Stats(); st.Limited != 1 || st.Open != 3 {
		t.Errorf("%+v", st)
	}
	s, addr = start(t, Config{NextHop: hop.url(), MaxConnsPer: 2, RecipientDomains: []string{"x"}})
	for range 3 {
		a, _ := hello(t, addr)
		b, _ := hello(t, addr)
		c := dialTalk(t, addr)
		c.want(string(replyBusy))
		a.do("QUIT")
		b.Close()
		eventually(t, "both are gone", func() bool { return s.Stats().Open == 0 })
	}
	if st := s.Stats(); st.Limited != 3 || st.Connections != 6 || len(s.perNetwork) != 0 {
		t.Errorf("%+v, %v", st, s.perNetwork)
	}
}

func TestLongCommand(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	for _, n := range []int{maxLine + 1, readBuffer, 1 << 20} {
		c, _ := hello(t, addr)
		go c.say("MAIL FROM:<" + strings.Repeat("a", n) + "@b>\r\nNOOP\r\n")
		c.want(string(replyLongLine))
	}
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<" + strings.Repeat("a", 8000) + "@b>")
}

func TestTooManyErrors(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	for range 3 {
		c.say("GET / HTTP/1.1\r\n")
		c.want("50")
	}
	c.say("GET / HTTP/1.1\r\nMAIL FROM:<a@b>\r\nRCPT TO:<a@b>\r\nDATA\r\nx\r\n.\r\n")
	for c.reply() != "" {
	}
	eventually(t, "it is gone", func() bool { return s.Stats().Open == 0 })
	if len(hop.mails()) > 0 {
		t.Error("what follows was heard")
	}
}

func TestUnixSocket(t *testing.T) {
	hop := newFake(t, nil)
	s, err := New(Config{NextHop: hop.url(), Hostname: "proxy.test"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := &talk{conn, t, bufio.NewReader(conn)}
	c.want("220")
	c.do("EHLO x", "XFORWARD ADDR=192.0.2.1")
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
	s.Close()
	if err := <-served; !errors.Is(err, ErrServerClosed) {
		t.Error(err)
	}
}

func TestNextHopForms(t *testing.T) {
	dir := t.TempDir()
	for url, want := range map[string]string{
		"smtp://mx.test": "tcp mx.test:25", "smtp://[::1]:2525/": "tcp [::1]:2525", "lmtp://127.0.0.1": "tcp 127.0.0.1:24",
		"lmtp+unix:/run/lmtp": "unix /run/lmtp", "lmtp+unix:///run/lmtp": "unix /run/lmtp",
	} {
		s, err := New(Config{NextHop: url})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if p := s.hop.(*pool); p.network+" "+p.address != want || p.lmtp != strings.HasPrefix(url, "lmtp") {
			t.Errorf("%s: %+v", url, p)
		}
	}
	for _, url := range []string{"", "mx.test:25", "smtp://", "smtp:mx.test", "http://mx.test", "smtp://mx.test/path", "lmtp+unix:", "maildir:",
		"maildir://host/path", "smtp://mx.test:port", "maildir:" + filepath.Join(dir, "x\x00y")} {
		if _, err := New(Config{NextHop: url}); !errors.Is(err, ErrNextHop) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := New(Config{NextHop: "maildir:" + filepath.Join(dir, "5 %")}); err != nil {
		t.Error(err)
	}
}

func TestLoop(t *testing.T) {
	for _, c := range []struct {
		listen, hop string
		loop        bool
	}{
		{"127.0.0.1:10025", "127.0.0.1:10025", true}, {"127.0.0.1:10025", "127.0.0.1:10026", false},
		{"0.0.0.0:25", "127.0.0.1:25", true}, {":25", "[::1]:25", true}, {"[::]:25", "127.0.0.1:25", true}, {":25", "127.0.0.9:25", true},
		{"0.0.0.0:25", "[::1]:25", false}, {":25", "192.0.2.1:25", false}, {"127.0.0.1:25", "192.0.2.1:25", false},
		{"localhost:25", "127.0.0.1:25", true}, {"127.0.0.1:25", "localhost:25", true}, {"127.0.0.1:25", "[::ffff:127.0.0.1]:25", true},
	} {
		_, err := New(Config{NextHop: "smtp://" + c.hop, Listen: []string{"127.0.0.1:1", c.listen}})
		if errors.Is(err, ErrLoop) != c.loop {
			t.Errorf("%+v: %v", c, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{NextHop: "smtp://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); !errors.Is(err, ErrLoop) {
		t.Errorf("Serve: %v", err)
	}
	path := filepath.Join(t.TempDir(), "s")
	if _, err := New(Config{NextHop: "lmtp+unix:" + path, Listen: []string{path}}); !errors.Is(err, ErrLoop) {
		t.Errorf("unix: %v", err)
	}
}
