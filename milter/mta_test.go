package milter

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"spamsim/milter/filter"
)

// A pipes listener hands out connections without a network, so that the clock of a test can be turned.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// start serves s on pipes until the test ends, and then checks that nothing is held or open any more.
func start(t *testing.T, s *Server) *pipes {
	t.Helper()
	l := newPipes()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != ErrServerClosed {
			t.Errorf("Serve returned %v", err)
		}
		if n := s.held.Held(); n != 0 {
			t.Errorf("%d octets are still counted as held", n)
		}
		if n := s.Stats().Sessions; n != 0 {
			t.Errorf("%d sessions are still there", n)
		}
	})
	return l
}

// An mta is a scripted one.
type mta struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	c    contract
}

// What MTAs offer.
var (
	postfix37  = contract{6, 0x1ff, 0x1fffff} // measured
	sendmail81 = contract{2, 0x3f, 0x7f}      // SMFI_CURR_ACTS and SMFI_CURR_PROT of version 2
	maddy      = contract{6, 0x21, 0x1fffff}  // adds and quarantines, changes nothing
)

// connect opens a connection and negotiates.
func connect(t *testing.T, l *pipes, offer contract) *mta {
	t.Helper()
	client, server := net.Pipe()
	l.conns <- server
	return negotiated(t, client, offer)
}

func negotiated(t *testing.T, conn net.Conn, offer contract) *mta {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	m := &mta{t: t, conn: conn, r: bufio.NewReader(conn)}
	m.send('O', number(offer.version)+number(offer.actions)+number(offer.protocol))
	cmd, data := m.recv()
	if cmd != 'O' || len(data) != 12 {
		t.Fatalf("the offer was answered by %q %q", cmd, data)
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32([]byte(data[4*i:])) }
	m.c = contract{word(0), word(1), word(2)}
	return m
}

func packet(cmd byte, data string) string {
	return number(uint32(len(data)+1)) + string(cmd) + data
}

func (m *mta) send(cmd byte, data string) {
	_, _ = m.conn.Write([]byte(packet(cmd, data))) // an error shows at the next answer
}

// recv reads an answer; cmd is 0 where the milter hung up.
func (m *mta) recv() (cmd byte, data string) {
	p := packetReader{r: m.r, between: func() {}, inside: func() {}}
	cmd, raw, err := p.next()
	if err != nil {
		return 0, ""
	}
	return cmd, string(raw)
}

// event sends one and checks that it is answered as agreed.
func (m *mta) event(cmd byte, data string) {
	m.t.Helper()
	m.send(cmd, data)
	if !m.c.answers(cmd) {
		return
	}
	if got, _ := m.recv(); got != 'c' {
		m.t.Fatalf("event %q was answered by %q", cmd, got)
	}
}

// A letter is a message as an MTA tells of it.
type letter struct {
	macros  string // of MAIL, "i\x00ABC\x00"
	from    string
	to      []string
	headers []string // "Name\x00 value"; the space after the colon is there
	body    []string // pieces
	last    string   // the piece that comes with the end
}

var hello = letter{macros: "i\x004F00\x00", from: "<a@b.test>", to: []string{"<c@d.test>"},
	headers: []string{"Subject\x00 hello"}, body: []string{"hello\r\n"}}

// begin sends CONNECT and HELO.
func (m *mta) begin() {
	m.t.Helper()
	m.event('C', "client.test\x004\x30\x39192.0.2.7\x00")
	m.event('H', "client.test\x00")
}

// mail sends a message and returns the answers to its end in words, the last one is what ends it.
func (m *mta) mail(l letter) []string {
	m.t.Helper()
	m.open(l)
	m.send('E', l.last)
	return m.answers()
}

// open sends a message but for its end.
func (m *mta) open(l letter) {
	m.t.Helper()
	if l.macros != "" {
		m.send('D', "M"+l.macros)
	}
	m.event('M', l.from+"\x00SIZE=100\x00")
	for _, to := range l.to {
		m.event('R', to+"\x00")
	}
	if m.c.version >= 4 && m.c.protocol&noData == 0 {
		m.event('T', "")
	}
	for _, h := range l.headers {
		if m.c.protocol&leadingSpace == 0 {
			h = strings.Replace(h, "\x00 ", "\x00", 1)
		}
		m.event('L', h+"\x00")
	}
	m.event('N', "")
	for _, b := range l.body {
		m.event('B', b)
	}
}

// answers reads what the end of a message is answered with.
func (m *mta) answers() []string {
	m.t.Helper()
	var all []string
	for {
		cmd, data := m.recv()
		all = append(all, words(cmd, data))
		if !strings.ContainsRune("pimhq", rune(cmd)) {
			return all
		}
	}
}

// words writes an answer readably: "i 0 Name|value", "y 550 no", "c".
func words(cmd byte, data string) string {
	data = strings.TrimSuffix(data, "\x00")
	switch cmd {
	case 0:
		return "hung up"
	case 'i', 'm':
		return fmt.Sprintf("%c %d %s", cmd, binary.BigEndian.Uint32([]byte(data)), strings.ReplaceAll(data[4:], "\x00", "|"))
	case 'y', 'q':
		return string(cmd) + " " + data
	}
	return string(cmd)
}

// want fails the test unless the answers are these.
func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("answered %q, want %q", got, want)
	}
}

// always is a filter that says the same of each message.
func always(j filter.Judgement) filter.CheckFunc {
	return func(context.Context, *filter.Envelope, []byte) filter.Judgement { return j }
}

// tagged is the judgement of most tests.
var tagged = filter.Judgement{
	Add:   []filter.Field{{Name: "X-Spamsim", Value: " clean; id=mx"}},
	Strip: []string{"X-Spamsim"},
}
