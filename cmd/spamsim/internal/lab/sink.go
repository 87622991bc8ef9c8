package lab

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Answers that are none.
const (
	Drop       = "drop"  // closes the connection without a reply
	CutContent = "cut"   // to DATA: says 354, reads a line of content and closes the connection
	HalfClose  = "half"  // ends this side of the connection and reads on until the other has ended too
	Raw        = "raw: " // what follows is sent as it is, and the connection closed
)

// A SinkConfig says how a sink behaves. The zero value takes everything.
type SinkConfig struct {
	Addr     string   // "" is a free port of loopback
	Greeting string   // "" is 220
	Offer    []string // EHLO keywords; nil offers what a modern server does

	// Answer gives the reply to a command line, or to "." for the final dot, once the content is read; "" leaves
	// it to the sink. Drop hangs up. It is called from many goroutines.
	Answer func(line string) string

	// Final, where there is one, takes each message at its final dot in place of the sink, which keeps none then, and gives
	// the reply. It is called from many goroutines.
	Final func(m Mail) string
}

// modern is what a sink offers unless told otherwise.
var modern = []string{"PIPELINING", "SIZE 104857600", "8BITMIME", "ENHANCEDSTATUSCODES", "SMTPUTF8", "DSN",
	"XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE"}

// A Mail is a message that a sink accepted: the envelope's lines as they came, and the content octet by octet, dots
// unstuffed.
type Mail struct {
	From    string   // "MAIL FROM:<a@b> SIZE=3"
	To      []string // "RCPT TO:<c@d>"
	Content []byte
}

// A Sink is an SMTP server on loopback that keeps what arrives.
type Sink struct {
	Addr string

	config SinkConfig
	l      net.Listener
	wg     sync.WaitGroup

	mu    sync.Mutex
	mails []Mail
	lines []string
	cut   int
	conns map[net.Conn]bool

	closed bool
}

// StartSink starts a sink that lives until the test ends.
func StartSink(t testing.TB, c SinkConfig) *Sink {
	t.Helper()
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", c.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if c.Offer == nil {
		c.Offer = modern
	}
	s := &Sink{Addr: l.Addr().String(), config: c, l: l, conns: map[net.Conn]bool{}}
	s.wg.Go(s.accept)
	t.Cleanup(s.Close)
	return s
}

// Close stops the sink, its connections included.
func (s *Sink) Close() {
	s.l.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// Kill stops the sink as a power cut does: connections are reset, and what was on its way in them is lost.
func (s *Sink) Kill() {
	s.mu.Lock()
	for c := range s.conns {
		_ = c.(*net.TCPConn).SetLinger(0)
	}
	s.mu.Unlock()
	s.Close()
}

// Mails returns what was accepted so far, in order.
func (s *Sink) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// Lines returns every command line that came so far, in order.
func (s *Sink) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

// Cut returns how many contents ended without their final dot.
func (s *Sink) Cut() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut
}

// Idle waits until there is no connection.
func (s *Sink) Idle(t testing.TB) {
	t.Helper()
	Eventually(t, "no connection to the sink", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.conns) == 0
	})
}

// Wait waits for n messages and returns all.
func (s *Sink) Wait(t testing.TB, n int) []Mail {
	t.Helper()
	Eventually(t, strconv.Itoa(n)+" messages at the sink", func() bool { return len(s.Mails()) >= n })
	return s.Mails()
}

func (s *Sink) accept() {
	for {
		conn, err := s.l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			conn.Close()
		}
		s.conns[conn] = true
		s.mu.Unlock()
		s.wg.Go(func() {
			defer s.forget(conn)
			(&sinkSession{Sink: s, conn: conn, r: bufio.NewReader(conn)}).serve()
		})
	}
}

// forget ends a connection.
func (s *Sink) forget(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// A sinkSession is one connection to a sink.
type sinkSession struct {
	*Sink
	conn net.Conn
	r    *bufio.Reader
	mail Mail
}

// serve speaks until either side has enough.
func (s *sinkSession) serve() {
	greeting := s.config.Greeting
	if greeting == "" {
		greeting = "220 sink.lab.test ESMTP"
	}
	if !s.say(greeting) || greeting[0] != '2' {
		return
	}
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		if !s.command(line) {
			return
		}
	}
}

// say sends a reply, whose lines are parted by LF; false ends the session.
func (s *sinkSession) say(reply string) bool {
	if raw, ok := strings.CutPrefix(reply, Raw); ok {
		_, _ = s.conn.Write([]byte(raw))
		return false
	}
	switch reply {
	case Drop:
		return false
	case HalfClose:
		_ = s.conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, s.r)
		return false
	}
	_, err := s.conn.Write([]byte(strings.ReplaceAll(reply, "\n", "\r\n") + "\r\n"))
	return err == nil && !strings.HasPrefix(reply, "221") && !strings.HasPrefix(reply, "421")
}

// answer is the configured reply, else the usual one.
func (s *sinkSession) answer(line, usual string) string {
	if s.config.Answer != nil {
		if a := s.config.Answer(line); a != "" {
			return a
		}
	}
	return usual
}

// command answers one command; false ends the session.
func (s *sinkSession) command(line string) bool {
	verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
	reply := s.answer(line, s.usual(verb))
	if reply == CutContent {
		if s.say(s.usual(verb)) {
			_, _ = s.r.ReadSlice('\n')
		}
		return false
	}
	if reply[0] > '3' {
		return s.say(reply)
	}
	switch verb {
	case "MAIL":
		s.mail = Mail{From: line}
	case "RCPT":
		s.mail.To = append(s.mail.To, line)
	case "RSET":
		s.mail = Mail{}
	case "DATA":
		return s.say(reply) && s.data()
	}
	return s.say(reply)
}

// usual is the reply of a server that takes everything.
func (s *sinkSession) usual(verb string) string {
	switch verb {
	case "EHLO", "LHLO":
		lines := append([]string{"sink.lab.test"}, s.config.Offer...)
		for i := range lines {
			sep := "-"
			if i == len(lines)-1 {
				sep = " "
			}
			lines[i] = "250" + sep + lines[i]
		}
		return strings.Join(lines, "\n")
	case "DATA":
		return "354 go ahead"
	case "QUIT":
		return "221 2.0.0 bye"
	case "HELO", "MAIL", "RCPT", "RSET", "NOOP", "XFORWARD":
		return "250 2.0.0 ok"
	}
	return "500 5.5.2 " + verb + " unknown"
}

// data reads content up to CRLF.CRLF, answers it, and keeps the message if the answer is 2xx.
func (s *sinkSession) data() bool {
	wire, ok := readContent(s.r)
	mail := s.mail
	mail.Content = Unstuff(wire)
	s.mail = Mail{}
	if !ok {
		s.mu.Lock()
		s.cut++
		s.mu.Unlock()
		return false
	}
	if s.config.Final != nil {
		return s.say(s.config.Final(mail))
	}
	reply := s.answer(".", "250 2.0.0 Ok: kept")
	if reply[0] == '2' {
		s.mu.Lock()
		s.mails = append(s.mails, mail)
		s.mu.Unlock()
	}
	return s.say(reply)
}

// readContent reads stuffed content up to its final dot, which it drops; ok is false where the connection ends first.
func readContent(r *bufio.Reader) (wire []byte, ok bool) {
	for {
		line, err := r.ReadSlice('\n')
		wire = append(wire, line...)
		if err != nil && err != bufio.ErrBufferFull {
			return wire, false
		}
		if bytes.HasSuffix(wire, []byte("\r\n.\r\n")) {
			return wire[:len(wire)-3], true
		}
		if string(wire) == ".\r\n" {
			return nil, true
		}
	}
}
