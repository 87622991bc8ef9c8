package smtpproxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// from connects from another address of this host: all of 127.0.0.0/8 is here on Linux.
func from(t testing.TB, ip, addr string) *talk {
	t.Helper()
	d := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &talk{conn, t, bufio.NewReader(conn)}
}

// TestCrowd: a thousand clients sit there and say nothing, as many as there may be, from twenty networks. Others get in all the
// same, one network gets no more than its share whatever its addresses, and who sits there holds no message's memory.
func TestCrowd(t *testing.T) {
	hop := newFake(t, nil)
	const all, share = 1000, 50
	s, addr := start(t, Config{NextHop: hop.url(), MaxConns: all, MaxConnsPer: share, RecipientDomains: []string{"hop.test"},
		Timeouts: Timeouts{Busy: time.Millisecond}})
	for i := range all {
		c := from(t, fmt.Sprintf("127.0.%d.%d", 1+i/share, 1+i%share), addr)
		c.want("220")
		if i%2 == 0 {
			c.do("EHLO idle.test", "MAIL FROM:<a@idle.test>") // a transaction that was begun protects nobody
		}
	}
	if st := s.Stats(); st.Open != all || st.Limited != 0 || st.Held != 0 {
		t.Fatalf("%+v", st)
	}
	for i := range 20 {
		var c *talk
		eventually(t, "another network gets in", func() bool {
			c = from(t, fmt.Sprintf("127.0.100.%d", 1+i), addr)
			return strings.HasPrefix(c.reply(), "220")
		})
		c.do("EHLO client.test")
		if reply := c.mail("x\r\n.\r\n"); !strings.HasPrefix(reply, "250") {
			t.Errorf("mail amid the crowd: %q", reply)
		}
	}
	eventually(t, "those sent away are gone", func() bool { return s.Stats().Open <= all })
	if n := len(hop.mails()); n != 20 {
		t.Errorf("%d messages were delivered", n)
	}
}

// TestShareOfANetwork: other addresses of one network are no way round its share, and others are not touched by it.
func TestShareOfANetwork(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxConnsPer: 3, RecipientDomains: []string{"hop.test"}})
	for i := range 3 {
		from(t, fmt.Sprintf("127.0.7.%d", 1+i), addr).want("220")
	}
	c := from(t, "127.0.7.200", addr)
	c.want(string(replyBusy))
	c.wantEnd()
	from(t, "127.0.8.1", addr).want("220")
	if st := s.Stats(); st.Open != 4 || st.Limited != 1 {
		t.Errorf("%+v", st)
	}
}

// TestTrustedStay: the site's own servers are not sent away, whoever comes, and however long they are silent.
func TestTrustedStay(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxConns: 2, Timeouts: Timeouts{Busy: time.Nanosecond}})
	a, _ := hello(t, addr)
	hello(t, addr)
	for range 5 {
		c := dialTalk(t, addr)
		c.want(string(replyBusy))
	}
	a.do("NOOP")
	if st := s.Stats(); st.Open != 2 || st.Limited != 5 {
		t.Errorf("%+v", st)
	}
}

// TestDeadlineOfContent: what is waited for is the next octets, and beyond the first minutes a rate, but of trusted clients.
func TestDeadlineOfContent(t *testing.T) {
	s, err := New(Config{NextHop: "smtp://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const data = 3 * time.Minute // the default
	begun := time.Now()
	content := func(trusted bool) *incoming {
		return &incoming{server: s, paid: begun, transaction: &transaction{session: &session{client: &client{trusted: trusted}}}}
	}
	for _, c := range []struct {
		after   time.Duration
		came    int
		trusted bool
		want    time.Duration
	}{
		{0, 0, false, data},
		{time.Minute, 0, false, 2 * time.Minute},
		{time.Hour, 0, false, data - time.Hour},
		{time.Hour, 0, true, data},
		{time.Hour, 100 * 3600, false, data},
		{time.Hour, 100 * 3540, false, 2 * time.Minute},
		{time.Hour, 1 << 30, false, data},
	} {
		now := begun.Add(c.after)
		if got := content(c.trusted).deadline(now, c.came).Sub(now); got != c.want {
			t.Errorf("%d octets in %v, trusted %v: %v, want %v", c.came, c.after, c.trusted, got, c.want)
		}
	}
	// Much at once, then an octet before each deadline: what was paid ahead is not enough for hours.
	in, at := content(false), begun
	until := in.deadline(at, 8<<20)
	for n := 0; until.Sub(at) > 2*time.Second; n++ {
		if at = until.Add(-time.Second); n > 100 {
			t.Fatalf("after %v the deadline is %v", at.Sub(begun), until.Sub(at))
		}
		until = in.deadline(at, 1)
	}
	if lasts := at.Sub(begun); lasts < data || lasts > 2*data+time.Second {
		t.Errorf("a client that sent 8 MiB and then next to nothing was waited for %v", lasts)
	}
}

// TestSlowContentMakesRoom: once as many are there as may be, who sends content slowly goes before others are turned away, and
// who sends it as fast as it is asked for stays.
func TestSlowContentMakesRoom(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxConns: 2, RecipientDomains: []string{"hop.test"}, Timeouts: Timeouts{Busy: time.Second}})
	var in [2]*talk
	for i := range in {
		in[i] = from(t, fmt.Sprintf("127.0.7.%d", 1+i), addr)
		in[i].want("220")
		in[i].do("EHLO x", "MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	}
	slow, fast := in[0], in[1]
	eventually(t, "both are waited for", func() bool { // and then it is as if both had begun a minute ago
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.clients {
			if c.silentFor(time.Now()) == 0 {
				return false
			}
		}
		for c := range s.clients {
			c.mu.Lock()
			c.since = c.since.Add(-time.Minute)
			c.mu.Unlock()
		}
		return true
	})
	slow.say(strings.Repeat("x", 30*busyRate) + "\r\n")
	fast.say(strings.Repeat("x", 90*busyRate) + "\r\n")
	eventually(t, "what both sent is read", func() bool { // until then both are a minute late
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.clients {
			if c.silentFor(time.Now()) > 45*time.Second {
				return false
			}
		}
		return true
	})
	eventually(t, "another network gets in", func() bool {
		return strings.HasPrefix(from(t, "127.0.100.1", addr).reply(), "220")
	})
	slow.want("421")
	slow.wantEnd()
	fast.say(".\r\n")
	fast.want("250")
	if n := len(hop.mails()); n != 1 {
		t.Errorf("%d messages were delivered", n)
	}
}

// TestOverload: more mail at once than there is memory for, and a filter that judges none of it. What is held stays within the
// budget, the rest is asked to come back, and the next message after the crowd is like the first before it.
func TestOverload(t *testing.T) {
	smallBuffers()
	hop := newFake(t, nil)
	release := make(chan struct{})
	check := func(context.Context, *envelope, []byte) judgement {
		<-release
		return judgement{}
	}
	const room = 8
	s, addr := start(t, Config{NextHop: hop.url(), Check: check, MaxJudging: 1, MaxJudged: firstHeld, MemoryBudget: room * firstHeld, Timeouts: Timeouts{Check: time.Hour}})
	var in []*talk
	for range 5 * room {
		c, _ := hello(t, addr)
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>")
		c.say("DATA\r\n")
		if reply := c.reply(); strings.HasPrefix(reply, "354") {
			in = append(in, c)
		} else if reply != string(replyNoMemory) {
			t.Fatalf("DATA: %q", reply)
		}
	}
	if st := s.Stats(); len(in) != room || st.Held != room*firstHeld || st.NoMemory != 4*room {
		t.Fatalf("%d are in, %+v", len(in), st)
	}
	for _, c := range in {
		c.say(stuff(small))
	}
	close(release)
	for _, c := range in {
		c.want("250 ")
	}
	c, _ := hello(t, addr)
	if reply := c.mail(stuff(small)); !strings.HasPrefix(reply, "250 ") {
		t.Errorf("after the crowd: %q", reply)
	}
	eventually(t, "all is given back", func() bool { return s.Stats().Held == 0 })
	if n := len(hop.mails()); n != room+1 {
		t.Errorf("%d messages were delivered", n)
	}
}
