package smtpproxy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAuthConnectionInDoubt: where an answer is outstanding, or the next hop does not forget a transaction, its connection is
// given up, though nobody can open one like it: the next answer would be taken for that to another command.
func TestAuthConnectionInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		to, answer string // at the next hop; "" comes too late
		asked      bool   // RSET
	}{
		"one of two answers is none": {"RCPT TO:<odd@hop.test>", "354 what", false},
		"DATA is answered too late":  {"DATA", "", false},
		"RSET is refused":            {"RSET", "550 5.0.0 no", true},
	} {
		t.Run(name, func(t *testing.T) {
			late := make(chan struct{})
			hop := authHop(t, func(line string) string {
				switch {
				case line != c.to:
					return ""
				case c.answer == "":
					<-late
					return "450 4.3.0 late"
				}
				return c.answer
			})
			_, addr := start(t, Config{NextHop: hop.url(), Auth: true, Timeouts: Timeouts{Reply: time.Second}})
			client, _ := hello(t, addr)
			client.do("AUTH PLAIN right")
			client.say("MAIL FROM:<a@b>\r\nRCPT TO:<odd@hop.test>\r\nRCPT TO:<b@hop.test>\r\n")
			for range 3 {
				client.reply()
			}
			if c.to == "DATA" {
				client.do("DATA")
				client.say("x\r\n.\r\n")
				client.want(string(replyNextHop))
			}
			close(late)
			client.do("RSET")
			client.say("MAIL FROM:<next@b>\r\n")
			client.want("421")
			eventually(t, "the next hop is left, but for what EHLO asked", func() bool {
				hop.mu.Lock()
				defer hop.mu.Unlock()
				return len(hop.open) == 1
			})
			said := hop.lines()
			if slices.Contains(said, "RSET") != c.asked || strings.Contains(strings.Join(said, "|"), "next@") {
				t.Errorf("the next hop heard %q", said)
			}
		})
	}
}

// TestAuthConnectionIsRefused: one that the next hop ended before it answered anything is not kept either.
func TestAuthConnectionIsRefused(t *testing.T) {
	hop := authHop(t, func(line string) string {
		if line == "MAIL FROM:<a@b>" {
			return "421 4.3.2 hop stops"
		}
		return ""
	})
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true})
	c, _ := hello(t, addr)
	c.do("AUTH PLAIN right", "MAIL FROM:<a@b>")
	c.say("RCPT TO:<b@hop.test>\r\n")
	c.want("451")
	c.do("RSET")
	c.say("MAIL FROM:<next@b>\r\n")
	c.want("421")
}

// TestAuthLMTPAnswersAstray: of several answers to the final dot one is none. Those behind it are not taken for answers to what is
// said next.
func TestAuthLMTPAnswersAstray(t *testing.T) {
	dots, late := 0, make(chan struct{})
	hop := authHop(t, func(line string) string {
		if line != "." {
			return ""
		}
		if dots++; dots == 3 {
			<-late
		}
		return []string{"", "250 2.0.0 first", "354 what", "250 2.0.0 third"}[dots]
	})
	hop.mu.Lock()
	hop.lmtp, hop.offer = true, append(hop.offer, "8BITMIME")
	hop.mu.Unlock()
	_, addr := start(t, Config{NextHop: hop.url(), Auth: true, LMTP: true})
	c := lmtp(t, addr)
	c.do("AUTH PLAIN right", "MAIL FROM:<a@b>", "RCPT TO:<a@x>", "RCPT TO:<b@x>", "RCPT TO:<c@x>", "DATA")
	c.say("x\r\n.\r\n")
	c.want("250 2.0.0 first")
	c.want(string(replyNextHop))
	c.want(string(replyNextHop))
	c.say("MAIL FROM:<next@b>\r\n")
	defer close(late)
	c.want("421")
}

// TestNothingIsSaidAmidContent: a next hop that is left amid content hears the content alone: a word of leave would be part of it.
func TestNothingIsSaidAmidContent(t *testing.T) {
	hop := newFake(t, nil)
	_, addr := start(t, Config{NextHop: hop.url(), MaxJudged: 1000})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	content := strings.Repeat("streams\r\n", 100_000)
	c.say(content)
	c.Close()
	eventually(t, "the next hop is left", func() bool { _, cut := hop.counts(); return cut == 1 })
	if n := len(hop.torn[0]); n == 0 || !strings.HasPrefix(content, hop.torn[0]) {
		t.Errorf("it heard %d octets, in the end %q", n, hop.torn[0][max(0, n-40):])
	}
}

// TestGoneBehindMuch: a client that is gone before the final dot goes on gets no delivery, also where it had sent more than is read
// ahead to notice that it is gone.
func TestGoneBehindMuch(t *testing.T) {
	hop := newFake(t, nil)
	gone := make(chan struct{})
	s, addr := start(t, Config{NextHop: hop.url(), Check: func(context.Context, *envelope, []byte) judgement {
		<-gone
		time.Sleep(2 * watchAfter) // not a measure: it makes the message an old one
		return judgement{}
	}})
	c, _ := hello(t, addr)
	c.do("MAIL FROM:<a@client.test>", "RCPT TO:<b@hop.test>", "DATA")
	c.say("x\r\n.\r\n" + strings.Repeat("NOOP\r\n", 2*readBuffer/6))
	c.Close()
	close(gone)
	eventually(t, "it is forgotten", func() bool { return s.Stats().Open == 0 })
	if st := s.Stats(); len(hop.mails()) != 0 || st.Aborted != 1 || st.HopFailed != 0 {
		t.Errorf("arrived %d, %+v", len(hop.mails()), st)
	}
}

// TestNoSecondConnectionOnceGivenUp: who is gone while a new connection is made in the place of one that died needs none.
func TestNoSecondConnectionOnceGivenUp(t *testing.T) {
	hop := newFake(t, nil)
	s, _ := start(t, Config{NextHop: hop.url()})
	out, err := s.hop.(*pool).begin()
	if err != nil {
		t.Fatal(err)
	}
	x := out.(*exchange)
	x.mail("MAIL FROM:<a@b>", nil)
	x.abort()
	if err := x.again(); !errors.Is(err, errNotSure) {
		t.Errorf("another connection: %v", err)
	}
	x.drop()
	eventually(t, "none is left", func() bool {
		hop.mu.Lock()
		defer hop.mu.Unlock()
		return len(hop.open) == 0
	})
	if n, _ := hop.counts(); n != 2 || strings.Contains(strings.Join(hop.lines(), "|"), "MAIL") {
		t.Errorf("%d connections, said %q", n, hop.lines())
	}
}
