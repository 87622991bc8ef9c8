package smtpproxy

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

// TestShutdown: clients that wait are told to go, one amid a message may finish it, none comes in.
func TestShutdown(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url()})
	fresh := dialTalk(t, addr)
	fresh.want("220")
	idle, _ := hello(t, addr)
	idle.mail("x\r\n.\r\n")
	busy, _ := hello(t, addr)
	busy.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	busy.say("x\r\n")
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(t.Context()) }()
	for _, c := range []*talk{fresh, idle} {
		c.want(string(replyStopping))
		c.wantEnd()
	}
	if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
	select {
	case err := <-done:
		t.Fatalf("Shutdown did not wait: %v", err)
	default:
	}
	busy.say(".\r\nMAIL FROM:<a@client.test>\r\n")
	busy.want("250 2.0.0 Ok: queued")
	busy.want(string(replyStopping))
	busy.wantEnd()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(hop.mails()) != 2 || s.Stats().Open != 0 {
		t.Errorf("arrived %d, %+v", len(hop.mails()), s.Stats())
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close after Shutdown: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("a second Shutdown: %v", err)
	}
}

// TestCloseAfterShutdown: what did not finish in time is cut, and not delivered.
func TestCloseAfterShutdown(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), MaxJudged: 1000})
	var open []*talk
	for _, content := range []string{"x\r\n", strings.Repeat("streams\r\n", 100_000)} {
		c, _ := hello(t, addr)
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
		c.say(content)
		open = append(open, c)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range open {
		if r := c.reply(); strings.HasPrefix(r, "2") {
			t.Errorf("answer: %q", r)
		}
	}
	if s.Stats().Open != 0 || len(hop.mails()) != 0 {
		t.Errorf("arrived %d, %+v", len(hop.mails()), s.Stats())
	}
}

// TestCloseWhileJudged: neither the client nor the next hop hears anything.
func TestCloseWhileJudged(t *testing.T) {
	hop := newFake(t, nil)
	asked := make(chan struct{}, 1)
	check := func(ctx context.Context, _ *envelope, _ []byte) judgement {
		asked <- struct{}{}
		<-ctx.Done()
		return judgement{}
	}
	s, addr := start(t, Config{NextHop: hop.url(), Check: check, Timeouts: Timeouts{Check: patience}})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	c.say("x\r\n.\r\n")
	<-asked
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r := c.reply(); r != "" {
		t.Errorf("answer: %q", r)
	}
	if len(hop.mails()) != 0 {
		t.Errorf("arrived %+v", hop.mails())
	}
}

// TestCloseWhileNextHopIsSilent: a wait for the next hop ends too.
func TestCloseWhileNextHopIsSilent(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT") {
				return silence
			}
			return ""
		}
	})
	s, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>")
	c.say("RCPT TO:<b@hop.test>\r\n")
	eventually(t, "the next hop hears RCPT", func() bool { return strings.Contains(strings.Join(hop.lines(), "|"), "RCPT") })
	began := time.Now()
	if err := s.Close(); err != nil || time.Since(began) > closeTime {
		t.Errorf("Close: %v after %v", err, time.Since(began))
	}
}

func TestServeAfterClose(t *testing.T) {
	hop := newFake(t, nil)
	s, err := New(Config{NextHop: hop.url()})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); !errors.Is(err, ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener is open")
	}
}

// TestTimeouts: a client that falls silent is told so, and leaves nothing behind.
func TestTimeouts(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Command: 100 * time.Millisecond, Data: 100 * time.Millisecond}})
	c := dialTalk(t, addr)
	c.want("220")
	c.want(string(replySilent))
	c.wantEnd()
	c, _ = hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	c.say("x\r\n.\r")
	c.want(string(replySilent))
	c.wantEnd()
	if st := s.Stats(); len(hop.mails()) != 0 || st.Aborted != 1 || st.Held != 0 {
		t.Errorf("%+v", st)
	}
}

// TestSlowContent: the time for content is one read's, not the message's.
func TestSlowContent(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Data: time.Second}})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	for range 15 {
		c.say("x\r\n")
		time.Sleep(100 * time.Millisecond)
	}
	c.say(".\r\n")
	c.want("250 ")
}

// TestIdleConnections: those to the next hop are given up after a while, in order.
func TestIdleConnections(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Idle: 50 * time.Millisecond}})
	a, _ := hello(t, addr)
	b, _ := hello(t, addr)
	a.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>")
	b.mail("x\r\n.\r\n")
	a.do("DATA")
	a.say(".\r\n")
	a.want("250")
	if n, _ := hop.counts(); n != 2 {
		t.Errorf("%d connections", n)
	}
	eventually(t, "both are given up", func() bool { return strings.Count(strings.Join(hop.lines(), "|"), "QUIT") == 2 })
	if s.hop.(*pool).take() != nil {
		t.Error("one is left")
	}
}

// TestRetire: who has sent a message is told to go, and who has not sends one first, however late he begins.
func TestRetire(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url()})
	fresh := dialTalk(t, addr)
	fresh.want("220")
	greeted, _ := hello(t, addr)
	idle, _ := hello(t, addr)
	idle.mail("x\r\n.\r\n")
	done := make(chan error, 1)
	go func() { done <- s.Retire(t.Context()) }()
	idle.want(string(replyStopping))
	idle.wantEnd()
	fresh.say("EHLO client.test\r\n")
	fresh.want("250")
	for _, c := range []*talk{fresh, greeted} {
		c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
		c.say("x\r\n.\r\n")
		c.want("250 2.0.0 Ok: queued")
		c.want(string(replyStopping))
		c.wantEnd()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(hop.mails()) != 3 || s.Stats().Open != 0 {
		t.Errorf("arrived %d, %+v", len(hop.mails()), s.Stats())
	}
}

// TestShutdownAfterRetire: who has sent nothing in time is told to go after all.
func TestShutdownAfterRetire(t *testing.T) {
	s, addr := start(t, Config{NextHop: newFake(t, nil).url()})
	silent, _ := hello(t, addr)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Retire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Retire: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	silent.want(string(replyStopping))
	silent.wantEnd()
}
