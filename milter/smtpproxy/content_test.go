package smtpproxy

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// sayInPieces sends a text in random pieces, each a write of its own.
func sayInPieces(c *talk, r *rand.Rand, wire string) {
	for len(wire) > 0 {
		n := 1 + r.IntN(len(wire))
		c.say(wire[:n])
		wire = wire[n:]
	}
}

// TestOctetsUnchanged sends 3,000 random contents in random pieces through the proxy, and compares what the filter is
// shown and what arrives with the reference.
func TestOctetsUnchanged(t *testing.T) {
	hop := newFake(t, nil)
	var got captured
	_, addr := start(t, Config{NextHop: hop.url(), Check: got.check})
	c, _ := hello(t, addr)
	r := rand.New(rand.NewPCG(5, 6))
	cases := 3000
	if testing.Short() {
		cases = 300
	}
	for i := range cases {
		wire := string(randomWire(r)) + "\r\n.\r\n"
		want, rest, _ := reference(wire)
		wire = strings.TrimSuffix(wire, rest)
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
		sayInPieces(c, r, wire)
		c.want("250 ")
		mails := hop.mails()
		if len(mails) != i+1 || string(mails[i].content) != want || got.raws[i] != want {
			t.Fatalf("sent %q\nwant %q\nseen %q\nhop  %q", wire, want, got.raws[i], mails[len(mails)-1].content)
		}
	}
	if n, cut := hop.counts(); n != 1 || cut != 0 {
		t.Errorf("%d connections, %d cut", n, cut)
	}
}

// TestLargeContent: lines and messages that do not fit any buffer.
func TestLargeContent(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: 1 << 20})
	c, _ := hello(t, addr)
	for _, content := range []string{
		strings.Repeat("x", 3000) + "\r\n",
		strings.Repeat("x", 900_000) + "\r\n",
		strings.Repeat(".\r\n", 100_000),
		strings.Repeat("\r", 20_000) + "x\r\n",
		strings.Repeat("0123456789\r\n.\r", 200_000) + "x\r\n", // streams
	} {
		if r := c.mail(stuff(content)); !strings.HasPrefix(r, "250 ") {
			t.Fatalf("answer: %q", r)
		}
		mails := hop.mails()
		if got := mails[len(mails)-1].content; string(got) != content {
			t.Errorf("%d octets became %d", len(content), len(got))
		}
	}
	if st := s.Stats(); st.Skipped != 1 || st.Held != 0 || st.Delivered != 5 {
		t.Errorf("%+v", st)
	}
}

// TestSmuggling: nothing but CRLF.CRLF ends a message, and what stands behind such a false end neither is heard as a
// command nor leaves as an end that a laxer next hop would take for one.
func TestSmuggling(t *testing.T) {
	const second = "MAIL FROM:<evil@x>\r\nRCPT TO:<victim@y>\r\nDATA\r\nSubject: smuggled\r\n\r\nx"
	for _, end := range []string{"\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r", "\n.\r", "\r.\n", "\r\n.\r\r\n", "\r\r\n.\r\r\n",
		"\r\n\x00.\r\n", "\r\n.\x00\r\n"} {
		hop := newFake(t, nil)
		_, addr := start(t, Config{NextHop: hop.url()})
		c, _ := hello(t, addr)
		wire := "Subject: first\r\n\r\nbody" + end + second + "\r\n.\r\n"
		want, _, _ := reference(wire)
		if r := c.mail(wire); !strings.HasPrefix(r, "250 ") {
			t.Errorf("%q: %q", end, r)
		}
		c.do("NOOP") // no answer was left over
		mails := hop.mails()
		if len(mails) != 1 || string(mails[0].content) != want || !bytes.Contains(mails[0].content, []byte("evil@x")) {
			t.Errorf("%q: arrived: %+v", end, mails)
		}
		for _, l := range hop.lines() {
			if strings.Contains(l, "evil") {
				t.Errorf("%q: heard %q", end, l)
			}
		}
	}
}

func TestBareLF(t *testing.T) {
	const wire = "Subject: x\r\n\r\none\ntwo\r\n.\r\n"
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	if r := c.mail(wire); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
	strict, addr := start(t, Config{NextHop: hop.url(), BareLF: RejectBareLF, MaxJudged: 1000})
	c, _ = hello(t, addr)
	if r := c.mail(wire); r != string(replyBareLF) {
		t.Errorf("answer: %q", r)
	}
	if r := c.mail(strings.Repeat("long\r\n", 10_000) + wire); r != string(replyBareLF) {
		t.Errorf("answer to what streams: %q", r)
	}
	if r := c.mail("Subject: x\r\n\r\nfine\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
	if m := hop.mails(); len(m) != 2 || string(m[0].content) != "Subject: x\r\n\r\none\r\ntwo\r\n" {
		t.Errorf("arrived: %+v", m)
	}
	if a, b := s.Stats().BareLF, strict.Stats().BareLF; a != 1 || b != 2 {
		t.Errorf("counted %d and %d", a, b)
	}
}

// TestClientCut: a client that goes away amid its content, small or streaming, leaves nothing at the next hop.
func TestClientCut(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: 1000})
	for i, part := range []string{"", "Subj", "Subject: x\r\n\r\nx\r\n", "x\r\n.", "x\r\n.\r", strings.Repeat("long\r\n", 50_000), strings.Repeat("long\r\n", 50_000) + "."} {
		c, _ := hello(t, addr)
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
		c.say(part)
		c.Close()
		eventually(t, "the message is given up", func() bool { return s.Stats().Aborted == int64(i+1) && s.Stats().Held == 0 })
	}
	eventually(t, "the next hop is cut off", func() bool { _, cut := hop.counts(); return cut == 2 })
	if m := hop.mails(); len(m) != 0 {
		t.Errorf("arrived: %+v", m)
	}
}

func TestMaxMessage(t *testing.T) {
	hop := newFake(t, func(f *fake) { f.offer = []string{"SIZE 5000"} })
	s, addr := start(t, Config{NextHop: hop.url(), MaxMessage: 1000, MaxJudged: 500})
	c, words := hello(t, addr)
	if !strings.Contains(words, "SIZE 1000\r\n") {
		t.Errorf("EHLO: %q", words)
	}
	line := strings.Repeat("x", 48) + "\r\n"
	if r := c.mail(strings.Repeat(line, 20) + ".\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("1,000 octets: %q", r)
	}
	if r := c.mail(strings.Repeat(line, 20) + "\r\n.\r\n"); r != string(replyTooLarge) {
		t.Errorf("1,002 octets: %q", r)
	}
	if r := c.mail(strings.Repeat(line, 9) + ".\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("450 octets: %q", r)
	}
	if st := s.Stats(); len(hop.mails()) != 2 || st.TooLarge != 1 || st.Skipped != 1 {
		t.Errorf("%d arrived, %+v", len(hop.mails()), st)
	}
}

func TestSizeWord(t *testing.T) {
	for _, c := range []struct {
		offer features
		own   int64
		want  string
	}{
		{features{}, 0, ""}, {features{size: true}, 0, "SIZE"}, {features{size: true, maxSize: 10}, 0, "SIZE 10"},
		{features{}, 5, "SIZE 5"}, {features{size: true, maxSize: 10}, 5, "SIZE 5"}, {features{size: true, maxSize: 10}, 50, "SIZE 10"},
	} {
		s := &session{server: &Server{cfg: Config{MaxMessage: c.own}}, client: &client{}, offer: c.offer}
		got := ""
		for l := range strings.Lines(string(s.hello())) {
			if strings.HasPrefix(l[4:], "SIZE") {
				got = strings.TrimSpace(l[4:])
			}
		}
		if got != c.want {
			t.Errorf("%+v, %d: %q, want %q", c.offer, c.own, got, c.want)
		}
	}
}
