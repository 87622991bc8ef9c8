package lab

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Break is how a client breaks off.
type Break uint8

// What a client may do in the middle of a message.
const (
	Leave Break = iota // closes the connection
	Reset              // resets it: what is on its way is lost
	Half               // ends its side, and hears what comes
)

// Steps are those of an attempt, in order. A client that breaks off at one has not done it.
var Steps = []string{"connect", "EHLO", "MAIL", "RCPT", "DATA", "content", "half", "dot", "answer"}

// A sender is one client of a ledger: a connection, which ends and is made again.
type sender struct {
	ledger *Ledger
	addr   string
	conn   *net.TCPConn
	r      *bufio.Reader
	at     string // the step at which it breaks off; "" is none
	how    Break
}

// connect makes a connection and reads the greeting.
func (s *sender) connect() (reply string) {
	conn, err := dialer.Dial("tcp", s.addr)
	if err != nil {
		return ""
	}
	s.conn, s.r = conn.(*net.TCPConn), bufio.NewReader(conn)
	_ = conn.SetDeadline(time.Now().Add(Patience))
	return s.reply()
}

// close forgets the connection.
func (s *sender) close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// reply reads one reply, all its lines; "" where the server hung up or said half of one.
func (s *sender) reply() string {
	var text strings.Builder
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return ""
		}
		s.ledger.steps.Add(1)
		text.WriteString(line)
		if len(line) < 4 || line[3] != '-' {
			return text.String()
		}
	}
}

// write sends octets unless the step is where this client breaks off; false is a connection that has ended.
func (s *sender) write(step string, raw []byte) bool {
	s.ledger.steps.Add(1)
	if s.breaks(step) {
		return false
	}
	_ = s.conn.SetDeadline(time.Now().Add(Patience))
	_, err := s.conn.Write(raw)
	return err == nil
}

// breaks breaks off, if this is the step.
func (s *sender) breaks(step string) bool {
	if step != s.at {
		return false
	}
	switch s.how {
	case Reset:
		_ = s.conn.SetLinger(0)
	case Half:
		_ = s.conn.CloseWrite()
		return true
	}
	s.close()
	return true
}

// try makes one attempt and returns the reply that decided.
func (s *sender) try(message int) string {
	if s.conn == nil {
		if reply := s.connect(); !positive(reply) || !s.write("EHLO", []byte("EHLO client.lab.test\r\n")) || !positive(s.reply()) {
			s.ledger.turned.Add(1)
			s.close()
			return ""
		}
	}
	number := s.ledger.begin(message)
	reply, dotted := s.send(s.ledger.content(number))
	s.ledger.end(number, reply, dotted)
	if !positive(reply) { // some servers refuse all of a session once they refuse
		s.close()
	}
	return reply
}

// positive tells whether a reply is 2xx or 3xx.
func positive(reply string) bool { return reply != "" && reply[0] < '4' }

// send sends envelope and content; dotted tells whether the final dot went out.
func (s *sender) send(content []byte) (reply string, dotted bool) {
	for _, line := range []string{"MAIL FROM:<a@lab.test>", "RCPT TO:<b@lab.test>", "DATA"} {
		if !s.write(line[:4], []byte(line+"\r\n")) {
			return s.lastWord(), false
		}
		if reply = s.reply(); !positive(reply) {
			return reply, false
		}
	}
	wire := Stuff(content)
	half, dot := len(wire)/2, len(wire)-len(".\r\n")
	if !s.write("content", wire[:half]) || !s.write("half", wire[half:dot]) || !s.write("dot", wire[dot:]) {
		return s.lastWord(), false
	}
	if s.breaks("answer") {
		return s.lastWord(), true
	}
	return s.reply(), true
}

// lastWord is what a client hears that has ended its side alone.
func (s *sender) lastWord() string {
	if s.conn == nil {
		return ""
	}
	return s.reply()
}

// Try makes one attempt of a message of its own, in a connection of its own, which breaks off at a step; "" is none.
func (l *Ledger) Try(addr, at string, how Break) (reply string) {
	s := &sender{ledger: l, addr: addr, at: at, how: how}
	defer s.close()
	if at == "connect" {
		s.connect()
		return ""
	}
	return s.try(l.message())
}

// Run has clients send one message after the other, each until it is accepted, and returns what stops them: each finishes its
// message first.
func (l *Ledger) Run(t testing.TB, addr string, clients int) (stop func()) {
	var wg sync.WaitGroup
	var enough, gaveUp atomic.Bool
	for range clients {
		wg.Go(func() {
			s := &sender{ledger: l, addr: addr}
			defer s.close()
			for !enough.Load() && !gaveUp.Load() {
				s.deliver(l.message(), &gaveUp)
				if l.Fresh {
					s.close()
				}
			}
		})
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			enough.Store(true)
			watchdog := time.AfterFunc(Patience, func() { gaveUp.Store(true) })
			wg.Wait()
			if !watchdog.Stop() {
				t.Errorf("messages were not accepted within %v", Patience)
			}
		})
	}
	t.Cleanup(func() { gaveUp.Store(true); stop() })
	return stop
}

// deliver sends one message until it is accepted. A server that refuses is given a moment.
func (s *sender) deliver(message int, gaveUp *atomic.Bool) {
	for !gaveUp.Load() {
		reply := s.try(message)
		if reply != "" && reply[0] == '2' {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}
