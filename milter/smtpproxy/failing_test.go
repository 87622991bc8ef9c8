package smtpproxy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// soon are timeouts under which a silent next hop is given up at once.
var soon = Timeouts{Reply: 150 * time.Millisecond, Dot: 150 * time.Millisecond, Connect: time.Second}

// outcome is what a client is told in the end: the first refusal, and to which command.
func outcome(c *talk) (step, answer string) {
	for _, l := range []string{"EHLO client.test", "MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA", "."} {
		text := l + "\r\n"
		if l == "." {
			text = "Subject: x\r\n\r\nx\r\n.\r\n"
		}
		c.say(text)
		verb, _, _ := strings.Cut(l, " ")
		if r := c.reply(); r == "" || r[0] > '3' {
			return verb, r
		}
	}
	return "", ""
}

// TestNextHopFails lets the next hop fail in each way at each step. The client is told in the right class, nothing is
// delivered, and once the next hop is well again mail flows.
func TestNextHopFails(t *testing.T) {
	const (
		none   = string(replyNoNextHop)
		later  = string(replyNextHop)
		closes = "421 4.3.2 hop stops\r\n"
		soft   = "450 4.2.0 hop says later\r\n"
		hard   = "550-5.1.1 hop says\r\n550 5.1.1 no\r\n"
	)
	for _, c := range []struct{ at, how, step, answer string }{
		{"greeting", hangUp, "EHLO", none}, {"greeting", silence, "EHLO", none}, {"greeting", garbage, "EHLO", none},
		{"greeting", closes, "EHLO", none}, {"greeting", "554 go away", "EHLO", none},
		{"EHLO", hangUp, "EHLO", none}, {"EHLO", silence, "EHLO", none}, {"EHLO", garbage, "EHLO", none},
		{"EHLO", closes, "EHLO", none}, {"EHLO", soft, "EHLO", none},
		{"MAIL", hangUp, "RCPT", later}, {"MAIL", silence, "RCPT", later}, {"MAIL", garbage, "RCPT", later},
		{"MAIL", closes, "RCPT", closes}, {"MAIL", soft, "RCPT", soft}, {"MAIL", hard, "RCPT", hard},
		{"MAIL", "354 what", "RCPT", later},
		{"RCPT", hangUp, "RCPT", later}, {"RCPT", silence, "RCPT", later}, {"RCPT", garbage, "RCPT", later},
		{"RCPT", closes, "RCPT", closes}, {"RCPT", soft, "RCPT", soft}, {"RCPT", hard, "RCPT", hard},
		{"RCPT", "354 what", "RCPT", later},
		{"DATA", hangUp, ".", later}, {"DATA", silence, ".", later}, {"DATA", garbage, ".", later},
		{"DATA", closes, ".", closes}, {"DATA", soft, ".", soft}, {"DATA", hard, ".", hard},
		{"DATA", "250 what", ".", later},
		{"content", hangUp, ".", later}, {"content", silence, ".", later}, {"content", garbage, ".", later},
		{".", hangUp, ".", later}, {".", silence, ".", later}, {".", garbage, ".", later},
		{".", closes, ".", closes}, {".", soft, ".", soft}, {".", hard, ".", hard}, {".", "354 what", ".", later},
	} {
		t.Run(c.at+" "+strings.TrimSpace(c.how), func(t *testing.T) {
			t.Parallel()
			well := make(chan struct{})
			hop := newFake(t, func(f *fake) {
				f.answer = func(_ int, line string) string {
					verb, _, _ := strings.Cut(line, " ")
					select {
					case <-well:
						return ""
					default:
					}
					if verb != c.at {
						return ""
					}
					return strings.ReplaceAll(strings.TrimSuffix(c.how, "\r\n"), "\r\n", "\n")
				}
			})
			prompt := soon
			prompt.Idle = time.Hour // nobody lets the next hop wait
			s, addr := start(t, Config{NextHop: hop.url(), Timeouts: prompt})
			client := dialTalk(t, addr)
			client.want("220")
			if step, answer := outcome(client); step != c.step || answer != c.answer {
				t.Errorf("%s: %q, want %s: %q", step, answer, c.step, c.answer)
			}
			if n := s.Stats().HopRetried; n > 0 && c.step == "." {
				t.Errorf("DATA or content went again %d times", n)
			}
			if n := len(hop.mails()); n > 0 {
				t.Errorf("%d messages were delivered", n)
			}
			if strings.HasPrefix(c.answer, "421") {
				client.wantEnd()
				client = dialTalk(t, addr)
				client.want("220")
			}
			close(well)
			client.say("RSET\r\n")
			client.reply()
			if step, answer := outcome(client); step != "" {
				t.Errorf("once it is well, %s: %q", step, answer)
			}
			if n, st := len(hop.mails()), s.Stats(); n != 1 || st.Delivered != 1 {
				t.Errorf("delivered %d, %+v", n, st)
			}
		})
	}
}

// TestNextHopDown: nobody listens there.
func TestNextHopDown(t *testing.T) {
	hop := newFake(t, nil)
	hop.stop()
	s, addr := start(t, Config{NextHop: hop.url()})
	c := dialTalk(t, addr)
	c.want("220")
	c.say("EHLO x\r\n")
	if r := c.reply(); r != string(replyNoNextHop) {
		t.Errorf("EHLO: %q", r)
	}
	c.wantEnd()
	if st := s.Stats(); st.HopFailed != 1 || st.HopDials != 0 {
		t.Errorf("%+v", st)
	}
}

// TestNextHopGoesDown: between EHLO and MAIL, with the connection that EHLO left.
func TestNextHopGoesDown(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	hop.stop()
	c.do("MAIL FROM:<a@client.test>")
	c.say("RCPT TO:<b@hop.test>\r\n")
	if r := c.reply(); r != string(replyNextHop) {
		t.Errorf("RCPT: %q", r)
	}
	c.say("DATA\r\n")
	if r := c.reply(); r != string(replyNextHop) {
		t.Errorf("DATA: %q", r)
	}
	c.say("MAIL FROM:<a@client.test>\r\n")
	if r := c.reply(); r != string(replyNextHop) {
		t.Errorf("MAIL: %q", r)
	}
}

// TestHelo: a next hop that knows no EHLO offers nothing, and mail flows.
func TestHelo(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "EHLO") {
				return "502 5.5.1 what"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, words := hello(t, addr)
	if want := "250-proxy.test\r\n250-PIPELINING\r\n250 XFORWARD " + strings.Join(forwardNames, " ") + "\r\n"; words != want {
		t.Errorf("EHLO: %q, want %q", words, want)
	}
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Errorf("answer: %q", r)
	}
}

// TestStrayAnswer: an answer to nothing is not that to the next command, neither on a kept connection nor behind 354 or the last one.
func TestStrayAnswer(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(n int, line string) string {
			if n == 2 && line == "DATA" {
				return "354 go\r\n250 2.0.0 Ok: too early"
			}
			if n == 3 && line == "." {
				return "250 2.0.0 Ok: queued\r\n550 5.0.0 stray"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
		t.Fatalf("answer: %q", r)
	}
	hop.mu.Lock()
	for conn := range hop.open {
		fmt.Fprint(conn, "550 5.0.0 stray\r\n")
	}
	hop.mu.Unlock()
	time.Sleep(50 * time.Millisecond) // it is on its way
	if r := c.mail("y\r\n.\r\n"); !strings.HasPrefix(r, "451 ") {
		t.Errorf("to 354 and 250: %q", r)
	}
	for range 2 {
		if r := c.mail("z\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Errorf("after it: %q", r)
		}
	}
	if n, _ := hop.counts(); n != 4 {
		t.Errorf("%d connections", n)
	}
}

// TestKeptConnectionDied: the next hop closed the connection that waits. What was to be said goes to a new one.
func TestKeptConnectionDied(t *testing.T) {
	hop := newFake(t, nil)
	s, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	for range 3 {
		if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Fatalf("answer: %q", r)
		}
		hop.cutAll()
	}
	if n, _ := hop.counts(); n != 3 || len(hop.mails()) != 3 {
		t.Errorf("%d connections, %d messages", n, len(hop.mails()))
	}
	if st := s.Stats(); st.HopRetried != 2 || st.HopReused != 3 || st.Delivered != 3 {
		t.Errorf("%+v", st)
	}
}

// TestKeptConnectionSays421: a server that has enough of a connection says so to the next MAIL.
func TestKeptConnectionSays421(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		mails := map[int]int{}
		f.answer = func(conn int, line string) string {
			if strings.HasPrefix(line, "MAIL") {
				if mails[conn]++; mails[conn] > 1 {
					return "421 4.7.0 enough"
				}
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	for range 3 {
		if r := c.mail("x\r\n.\r\n"); !strings.HasPrefix(r, "250 ") {
			t.Fatalf("answer: %q", r)
		}
	}
	if n, _ := hop.counts(); n != 3 || len(hop.mails()) != 3 {
		t.Errorf("%d connections, %d messages", n, len(hop.mails()))
	}
}

// TestNoRetryOnceHeard: a kept connection that dies after an answer is not replaced, the client comes back.
func TestNoRetryOnceHeard(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT") {
				return hangUp
			}
			return ""
		}
	})
	s, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>")
	c.say("RCPT TO:<b@hop.test>\r\n")
	if r := c.reply(); r != string(replyNextHop) {
		t.Errorf("RCPT: %q", r)
	}
	if st := s.Stats(); st.HopRetried != 0 {
		t.Errorf("%+v", st)
	}
}

// TestErrorsAreNotInherited: a connection on which something was refused serves no second transaction.
func TestErrorsAreNotInherited(t *testing.T) {
	hop := newFake(t, func(f *fake) {
		f.answer = func(_ int, line string) string {
			if strings.HasPrefix(line, "RCPT TO:<no") {
				return "550 5.1.1 no"
			}
			return ""
		}
	})
	_, addr := start(t, Config{NextHop: hop.url()})
	c, _ := hello(t, addr)
	for range 2 {
		c.do("MAIL FROM:<a@client.test>")
		c.say("RCPT TO:<no@hop.test>\r\n")
		if r := c.reply(); r != "550 5.1.1 no\r\n" {
			t.Errorf("RCPT: %q", r)
		}
		c.do("RCPT TO:<b@hop.test>", "DATA")
		c.say(".\r\n")
		c.want("250")
	}
	if n, _ := hop.counts(); n != 2 {
		t.Errorf("%d connections", n)
	}
	for _, m := range hop.mails() {
		if len(m.content) > 0 || len(m.envelope) != 2 {
			t.Errorf("arrived: %+v", m)
		}
	}
}

// TestSlowClient: the next hop does not wait as long as the content takes to come. The envelope goes to a new
// connection, which must accept it again.
func TestSlowClient(t *testing.T) {
	for _, c := range []struct {
		name, second, want string // what the second connection says to the second recipient
		delivered          int
	}{
		{"accepted", "", "250 2.0.0 Ok: queued as 2\r\n", 1},
		{"refused", "550 5.1.1 not any more", string(replyNextHop), 0},
		{"gone", hangUp, string(replyNextHop), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			hop := newFake(t, func(f *fake) {
				f.answer = func(conn int, line string) string {
					if conn == 2 && line == "RCPT TO:<c@hop.test>" {
						return c.second
					}
					if line == "RCPT TO:<no@hop.test>" {
						return "550 5.1.1 no"
					}
					return ""
				}
			})
			_, addr := start(t, Config{NextHop: hop.url(), Timeouts: Timeouts{Idle: 20 * time.Millisecond}})
			client, _ := hello(t, addr)
			client.do("XFORWARD ADDR=192.0.2.1", "MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>")
			client.say("RCPT TO:<no@hop.test>\r\n")
			client.want("550")
			client.do("RCPT TO:<c@hop.test>", "DATA")
			hop.cutAll()
			time.Sleep(30 * time.Millisecond) // not a measure: it makes the connection an old one
			client.say(stuff(small))
			if r := client.reply(); r != c.want {
				t.Errorf("answer: %q", r)
			}
			mails := hop.mails()
			if len(mails) != c.delivered {
				t.Fatalf("arrived %+v", mails)
			}
			if c.delivered > 0 && (string(mails[0].content) != small || len(mails[0].envelope) != 3) {
				t.Errorf("arrived %+v", mails)
			}
		})
	}
}
