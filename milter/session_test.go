package milter

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spamsim/milter/filter"
)

// A seen is what the filter was asked.
type seen struct {
	env filter.Envelope
	raw string
}

// remember is a filter that keeps what it was asked.
func remember(all *[]seen) filter.CheckFunc {
	return func(_ context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
		*all = append(*all, seen{*env, string(raw)})
		return tagged
	}
}

func TestNegotiatesDown(t *testing.T) {
	for _, c := range []struct {
		name        string
		offer, want contract
	}{
		{"postfix", postfix37, wanted},
		{"sendmail of version 2", sendmail81, contract{2, 0x31, 0}},
		{"maddy", maddy, contract{6, 0x21, wanted.protocol}},
		{"a later version", contract{7, 0xffffffff, 0xffffffff}, wanted},
		{"nothing", contract{6, 0, 0}, contract{6, 0, 0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := connect(t, start(t, &Server{Check: always(tagged)}), c.offer)
			if m.c != c.want {
				t.Errorf("%s: offered %+v, answered %+v, want %+v", c.name, c.offer, m.c, c.want)
			}
		})
	}
	for _, data := range []string{"", "\x00\x00\x00\x06", number(1) + number(0x1ff) + number(0x7f)} {
		if c, err := negotiate([]byte(data), wanted); err == nil {
			t.Errorf("offer %q was taken as %+v", data, c)
		}
	}
}

func TestRawMessage(t *testing.T) {
	for _, c := range []struct {
		name string
		l    letter
		want string
	}{
		{"plain", hello, "Subject: hello\r\n\r\nhello\r\n"},
		{"order, case and space are kept", letter{headers: []string{"b\x00  two", "A\x00 x", "B\x00 y"}, body: []string{"z"}},
			"b:  two\r\nA: x\r\nB: y\r\n\r\nz"},
		{"folds", letter{headers: []string{"To\x00 a,\n\tb,\n c", "Cc\x00 d,\r\n\te"}},
			"To: a,\r\n\tb,\r\n c\r\nCc: d,\r\n\te\r\n\r\n"},
		{"pieces", letter{body: []string{"ab", "c\r", "\nd"}, last: "e\r\n"}, "\r\nabc\r\nde\r\n"},
		{"nothing", letter{}, "\r\n"},
		{"octets", letter{headers: []string{"X\x00 \xff\x01"}, body: []string{"\x00\r.\n\xfe"}}, "X: \xff\x01\r\n\r\n\x00\r.\n\xfe"},
	} {
		for _, offer := range []contract{postfix37, sendmail81} {
			synctest.Test(t, func(t *testing.T) {
				var all []seen
				m := connect(t, start(t, &Server{Check: remember(&all)}), offer)
				m.begin()
				if got := m.mail(c.l); got[len(got)-1] != "c" {
					t.Fatalf("answered %q", got)
				}
				if all[0].raw != c.want {
					t.Errorf("%s, version %d: the filter saw %q, want %q", c.name, offer.version, all[0].raw, c.want)
				}
			})
		}
	}
}

// TestWithoutLeadingSpace: an MTA that cuts the space off cuts off one space, which is put back.
func TestWithoutLeadingSpace(t *testing.T) {
	m := &message{}
	m.addHeader([]byte("A\x00x\x00"), false)
	m.addHeader([]byte("B\x00x\x00"), true)
	m.addHeader([]byte("C\x00"), true)
	if got := string(m.raw); got != "A: x\r\nB:x\r\nC:\r\n" {
		t.Errorf("got %q", got)
	}
}

func TestEnvelope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []seen
		m := connect(t, start(t, &Server{Check: remember(&all)}), postfix37)
		m.send('D', "Cj\x00mx.test\x00{client_addr}\x00198.51.100.1\x00")
		m.begin()
		m.send('D', "M{auth_authen}\x00ann\x00")
		m.event('M', "<Ann@b.test>\x00SIZE=3\x00BODY=8BITMIME\x00")
		m.send('D', "R{rcpt_addr}\x00c@d.test\x00")
		m.event('R', "<c@d.test>\x00NOTIFY=NEVER\x00")
		m.send('D', "Ri\x004F01\x00")
		m.event('R', "<e@d.test>\x00")
		m.send('D', "E\x00")
		m.send('E', "")
		m.answers()
		m.send('A', "") // Postfix sends it after each message
		m.mail(letter{from: "<>", to: []string{"f@d.test"}})
		want := filter.Envelope{ClientAddr: "192.0.2.7", Helo: "client.test", Sender: "Ann@b.test",
			Recipients: []string{"c@d.test", "e@d.test"}, QueueID: "4F01", Door: "milter", Authenticated: true}
		if got := all[0].env; !sameEnvelope(got, want) || got.Time.IsZero() {
			t.Errorf("first message: %+v, want %+v", got, want)
		}
		want.Sender, want.Recipients, want.QueueID = "", []string{"f@d.test"}, ""
		if got := all[1].env; !sameEnvelope(got, want) {
			t.Errorf("second message: %+v, want %+v", got, want)
		}
		m.send('D', "Mi\x004F02\x00")
		m.event('M', "<g@d.test>\x00")
		m.send('D', "Ei\x00\x00") // an empty value takes nothing away
		m.send('E', "")
		m.answers()
		if got := all[2].env; got.QueueID != "4F02" || !got.Authenticated {
			t.Errorf("third message: %+v", got)
		}
		m.send('K', "")
		m.mail(hello)
		want = filter.Envelope{Sender: "a@b.test", Recipients: []string{"c@d.test"}, QueueID: "4F00", Door: "milter"}
		if got := all[3].env; !sameEnvelope(got, want) {
			t.Errorf("another SMTP session on the same connection: %+v, want %+v", got, want)
		}
	})
}

// TestConnectAgain: Postfix sends CONNECT anew after XCLIENT, on the same connection, and whoever was authenticated is
// no more.
func TestConnectAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []seen
		m := connect(t, start(t, &Server{Check: remember(&all)}), postfix37)
		m.send('D', "C{client_addr}\x00198.51.100.1\x00{auth_type}\x00PLAIN\x00")
		m.event('C', "unknown\x00U")
		m.event('H', "first\x00")
		m.mail(hello)
		m.send('D', "Cj\x00mx.test\x00")
		m.event('C', "unknown\x00U")
		m.mail(hello)
		if e := all[0].env; e.ClientAddr != "198.51.100.1" || !e.Authenticated || e.Helo != "first" {
			t.Errorf("first: %+v", e)
		}
		if e := all[1].env; e.ClientAddr != "" || e.Authenticated || e.Helo != "" {
			t.Errorf("something of the first session is in the second: %+v", e)
		}
	})
}

func sameEnvelope(a, b filter.Envelope) bool {
	return a.ClientAddr == b.ClientAddr && a.Helo == b.Helo && a.Sender == b.Sender && a.QueueID == b.QueueID &&
		a.Door == b.Door && a.Authenticated == b.Authenticated && slices.Equal(a.Recipients, b.Recipients)
}

func TestClientAddress(t *testing.T) {
	for data, want := range map[string]string{
		"localhost\x004\x30\x39127.0.0.1\x00":   "127.0.0.1",
		"h\x006\x30\x392001:DB8::1\x00":         "2001:db8::1",
		"h\x006\x30\x39IPv6:2001:db8::1\x00":    "2001:db8::1",
		"h\x006\x30\x39::ffff:192.0.2.1\x00":    "192.0.2.1",
		"h\x006\x30\x39[fe80::1%eth0]\x00":      "fe80::1",
		"localhost\x00L\x00\x00/run/socket\x00": "",
		"unknown\x00U":                          "",
		"h\x004\x30\x39nonsense\x00":            "",
		"h\x004":                                "",
		"":                                      "",
		"no end":                                "",
	} {
		if got := connectAddr([]byte(data)); got != want {
			t.Errorf("CONNECT %q: %q, want %q", data, got, want)
		}
	}
}

// TestMacroAddress: where CONNECT has no address the macro says it, with or without braces.
func TestMacroAddress(t *testing.T) {
	for _, name := range []string{"{client_addr}", "client_addr"} {
		synctest.Test(t, func(t *testing.T) {
			var all []seen
			m := connect(t, start(t, &Server{Check: remember(&all)}), postfix37)
			m.send('D', "C"+name+"\x00192.0.2.9\x00odd")
			m.event('C', "unknown\x00U")
			m.mail(hello)
			if got := all[0].env.ClientAddr; got != "192.0.2.9" {
				t.Errorf("%s: client %q", name, got)
			}
		})
	}
}

func TestManyMessagesAndAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []seen
		s := &Server{Check: remember(&all)}
		m := connect(t, start(t, s), postfix37)
		m.begin()
		for range 20 {
			want(t, m.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
			m.send('A', "") // after success
			m.open(letter{from: "<x@y.test>", to: []string{"<z@y.test>"}, headers: []string{"X-Spamsim\x00 forged"}, body: []string{"left"}})
			m.send('A', "") // given up
		}
		m.send('Q', "")
		if cmd, _ := m.recv(); cmd != 0 {
			t.Errorf("QUIT was answered by %q", cmd)
		}
		for _, one := range all {
			if one.raw != "Subject: hello\r\n\r\nhello\r\n" || len(one.env.Recipients) != 1 {
				t.Errorf("something of an aborted message is in the next one: %+v", one)
			}
		}
		if n := s.Stats(); n.Messages != 20 || n.Aborted != 20 || n.Broken != 0 {
			t.Errorf("counted %+v", n)
		}
	})
}

// TestTransactionAnew: a transaction that the MTA leaves without ABORT, such as where MAIL was refused and comes again, leaves
// nothing in the next one.
func TestTransactionAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []seen
		s := &Server{Check: remember(&all)}
		m := connect(t, start(t, s), postfix37)
		for _, macros := range []string{"", "i\x00NEW\x00"} {
			m.begin()
			m.open(letter{macros: "i\x00OLD\x00", from: "<x@y.test>", to: []string{"<z@y.test>"}, headers: []string{"X-Spamsim\x00 old"}, body: []string{"old"}})
			next := hello
			next.macros = macros
			want(t, m.mail(next), "i 0 X-Spamsim| clean; id=mx", "c")
			one := all[len(all)-1]
			if one.raw != "Subject: hello\r\n\r\nhello\r\n" || len(one.env.Recipients) != 1 || one.env.QueueID != strings.Trim(macros, "i\x00") {
				t.Errorf("something of the transaction before is in the next one: %+v", one)
			}
		}
		if n := s.Stats(); n.Messages != 2 || n.Aborted != 2 || n.Broken != 0 {
			t.Errorf("counted %+v", n)
		}
	})
}

func TestTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kinds []string
		s := &Server{
			MaxMessage: 1000,
			Check:      always(tagged),
			Pass: func(_ *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
				if kind == filter.Skipped {
					kinds = append(kinds, reason)
				}
				return filter.Judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " skipped"}}, Strip: []string{"X-Spamsim"}}
			},
		}
		m := connect(t, start(t, s), postfix37)
		m.begin()
		big := hello
		big.headers = []string{"X-SPAMSIM\x00 forged", "x-spamsim\x00 forged"}
		big.body = []string{strings.Repeat("x", 900), strings.Repeat("x", 900), strings.Repeat("x", 900)}
		want(t, m.mail(big), "m 2 X-Spamsim|", "m 1 X-Spamsim|", "i 0 X-Spamsim| skipped", "c")
		if n := s.held.Held(); n != 0 {
			t.Errorf("%d octets are held after it", n)
		}
		want(t, m.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
		big.headers = []string{"A\x00 " + strings.Repeat("y", 2000), "X-SPAMSIM\x00 forged", "x-spamsim\x00 forged"}
		want(t, m.mail(big), "m 2 X-Spamsim|", "m 1 X-Spamsim|", "i 0 X-Spamsim| skipped", "c")
		big.headers = slices.Repeat([]string{strings.Repeat("n", 400) + "\x00 x"}, 10)
		want(t, m.mail(big), "y 452 4.3.1 Insufficient memory, try again later")
		if !slices.Equal(kinds, []string{"size", "size"}) || s.Stats().Skipped != 2 {
			t.Errorf("passed for %q, counted %+v", kinds, s.Stats())
		}
	})
}

func TestNoMemoryLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{MaxHeld: 3000, Check: always(tagged)}
		l := start(t, s)
		a, b := connect(t, l, postfix37), connect(t, l, postfix37)
		large := letter{from: "<a@b.test>", to: []string{"<c@d.test>"}, body: []string{strings.Repeat("x", 2000)}}
		a.open(large)
		synctest.Wait() // until the server has it
		want(t, b.mail(large), "y 452 4.3.1 Insufficient memory, try again later")
		a.send('E', "")
		want(t, a.answers(), "i 0 X-Spamsim| clean; id=mx", "c")
		want(t, b.mail(large), "i 0 X-Spamsim| clean; id=mx", "c")
		if n := s.Stats(); n.Refused != 1 {
			t.Errorf("counted %+v", n)
		}
	})
}

func TestMalformed(t *testing.T) {
	for name, bytes := range map[string]string{
		"length 0":         "\x00\x00\x00\x00",
		"length 4 GB":      "\xff\xff\xff\xffX",
		"length over 1 MB": number(maxPacket + 1),
		"unknown command":  packet('?', ""),
		"cut short":        "\x00\x00\x00\x09Mabc",
		"bad second offer": packet('O', "x"),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &Server{Check: always(tagged)}
			l := start(t, s)
			bad, good := connect(t, l, postfix37), connect(t, l, postfix37)
			_, _ = bad.conn.Write([]byte(bytes))
			begin := time.Now()
			if name == "cut short" {
				bad.conn.Close()
			} else if cmd, _ := bad.recv(); cmd != 0 || time.Since(begin) != 0 {
				t.Errorf("%s was answered by %q after %v", name, cmd, time.Since(begin))
			}
			want(t, good.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
			synctest.Wait()
			if n := s.Stats(); n.Broken != 1 {
				t.Errorf("%s: counted %+v", name, n)
			}
		})
	}
}

func TestOfferFirst(t *testing.T) {
	s := &session{server: &Server{}}
	if err := s.event('M', []byte("<a@b>\x00")); err == nil {
		t.Error("MAIL before the offer was taken")
	}
}

// TestNamesAreCounted: the names of a message's fields count as held beside the fields, also of one that is over the limit, and an
// idle session keeps no room for many.
func TestNamesAreCounted(t *testing.T) {
	const fields, named, octets = 3, 2501, 5002 // of each field: its name, all of it
	for _, c := range []struct {
		server *Server
		want   int64
		full   bool
	}{
		{&Server{}, fields * (named + octets), false},
		{&Server{MaxMessage: 12_000}, fields * named, false}, // it is over: the names alone
		{&Server{MaxHeld: 12_000}, named, true},
	} {
		a, b := net.Pipe()
		s := newSession(c.server, a)
		s.take(cmdMail, []byte("<a@b>\x00"))
		for range fields {
			s.take(cmdHeader, []byte(strings.Repeat("n", named-1)+"\x00"+strings.Repeat("v", octets-named-1)+"\x00"))
		}
		if n := c.server.held.Held(); n != c.want || s.message.full != c.full {
			t.Errorf("%d octets are held, want %d; full %v", n, c.want, s.message.full)
		}
		s.reset()
		if n := c.server.held.Held(); n != 0 || cap(s.message.names) > keptNames {
			t.Errorf("%d octets are held by nobody, room for %d of names", n, cap(s.message.names))
		}
		_ = errors.Join(a.Close(), b.Close())
	}
}
