package milter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// A session is one connection of an MTA: one SMTP session, or several one after the other (QUIT_NC).
type session struct {
	server *Server
	conn   *timedConn
	r      packetReader
	w      *bufio.Writer

	contract contract
	agreed   bool // the offer was answered
	addr     string
	helo     string
	macros   macros
	message  message
	held     int // octets that this session counts in the server's budget
}

// bufferSize is that of a session's two buffers, in octets. A message of ordinary size comes in a read or two.
const bufferSize = 16 << 10

func newSession(s *Server, conn net.Conn) *session {
	t := &timedConn{Conn: conn, idle: s.idleTimeout(), ack: quickAck(conn)}
	return &session{
		server: s,
		conn:   t,
		r:      packetReader{r: bufio.NewReaderSize(t, bufferSize), between: t.between, inside: t.inside},
		w:      bufio.NewWriterSize(t, bufferSize),
	}
}

// errQuit ends a session in good order.
var errQuit = errors.New("the MTA is done")

// Release gives back what the last message held.
func (s *session) Release() { s.reset() }

// Drain lets the session end soon after its message.
func (s *session) Drain() { s.conn.drain() }

// LogKeys name the client, and the message that it had got to.
func (s *session) LogKeys() []any { return []any{"id", s.macros.queueID, "client", s.addr} }

// Converse answers until the MTA quits, and says why it stopped otherwise.
func (s *session) Converse() error {
	for {
		cmd, data, err := s.r.next()
		if err != nil {
			return s.ended(err)
		}
		if err := s.event(cmd, data); err != nil {
			return s.ended(err)
		}
		// What came in one go is answered in one go: small writes one after the other wait for acknowledgements.
		if s.r.r.Buffered() == 0 {
			if err := s.w.Flush(); err != nil {
				return fmt.Errorf("answering: %w", err)
			}
		}
	}
}

// ended tells an ordinary end from trouble. An MTA that hangs up between messages is as good as one that quits; one
// that was idle too long, or while we drain, is let go.
func (s *session) ended(err error) error {
	calm := !s.message.open && (errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded))
	if errors.Is(err, errQuit) || calm {
		return s.w.Flush()
	}
	return err
}

// event takes one packet. Events may come in any order that an MTA finds fit, but for the offer, which is first.
func (s *session) event(cmd byte, data []byte) error {
	if !s.agreed && cmd != cmdOptNeg {
		return fmt.Errorf("%w: %q before the offer", errPacket, cmd)
	}
	switch cmd {
	case cmdOptNeg:
		return s.negotiate(data)
	case cmdMacro:
		s.takeMacros(data)
		return nil
	case cmdBodyEOB:
		return s.end(data)
	case cmdAbort:
		s.abort()
		return nil
	case cmdQuitNC:
		s.reset()
		s.forget()
		return nil
	case cmdQuit:
		return errQuit
	}
	if noReply[cmd] == 0 {
		return fmt.Errorf("%w: command %q", errPacket, cmd)
	}
	s.take(cmd, data)
	if s.contract.answers(cmd) {
		writePacket(s.w, actContinue)
	}
	return nil
}

// negotiate answers the MTA's offer.
func (s *session) negotiate(data []byte) error {
	c, err := negotiate(data, wanted)
	if err != nil {
		return err
	}
	s.contract, s.agreed = c, true
	writePacket(s.w, cmdOptNeg, number(c.version), number(c.actions), number(c.protocol))
	return nil
}

// anew gives a transaction up that is still open where the MTA begins another one without ABORT, as libmilter does: what was
// said of the old one is not of the new.
func (s *session) anew(cmd byte) {
	if s.message.open && (cmd == cmdConnect || cmd == cmdHelo || cmd == cmdMail) {
		s.abort()
	}
}

// takeMacros merges macros. Those of CONNECT come ahead of a new SMTP session, which has nothing of the last one's.
func (s *session) takeMacros(data []byte) {
	if len(data) > 0 {
		s.anew(data[0])
		if data[0] == cmdConnect {
			s.forget()
		}
	}
	s.macros.add(data)
}

// forget clears what belongs to an SMTP session.
func (s *session) forget() {
	s.addr, s.helo, s.macros = "", "", macros{}
}

// take keeps what an event says.
func (s *session) take(cmd byte, data []byte) {
	s.anew(cmd)
	m := &s.message
	switch cmd {
	case cmdConnect:
		s.addr = connectAddr(data)
	case cmdHelo:
		helo, _ := cString(data)
		s.helo = kept(helo)
	case cmdMail:
		s.conn.open(true)
		m.open = true
		m.sender = address(data)
	case cmdRcpt:
		m.said++
		if s.hold(len(data)) {
			m.rcpts = append(m.rcpts, address(data))
		}
	case cmdHeader:
		before := len(m.names)
		if s.hold(len(data)) {
			m.addHeader(data, s.contract.protocol&leadingSpace != 0)
		} else if m.over && !m.full { // forged fields are deleted from a message that is not judged, too
			name, _ := cString(data)
			m.addName(name)
		}
		s.charge(len(m.names) - before)
	case cmdEOH:
		if s.hold(0) {
			m.addBody(nil)
		}
	case cmdBody:
		if s.hold(len(data)) {
			m.addBody(data)
		}
	}
}

// hold counts octets of the message and tells whether they may be kept: not over the limit of one message, and not over
// that of all. A message over either is dropped at once, so that it takes no room while the rest of it comes.
func (s *session) hold(n int) bool {
	m := &s.message
	m.size += n
	if m.over || m.full {
		return false
	}
	m.over = m.size > s.server.maxMessage()
	m.full = !m.over && !s.server.held.Take(n, s.server.maxHeld())
	if m.over || m.full {
		s.server.held.Give(s.held - len(m.names))
		s.held = len(m.names)
		m.drop()
		return false
	}
	s.held += n
	return true
}

// charge counts the last n octets of names, which are held beside the fields; where there is no room for them the message is dropped.
func (s *session) charge(n int) {
	m := &s.message
	if len(m.names) > s.server.maxMessage() || !s.server.held.Take(n, s.server.maxHeld()) {
		m.names = m.names[:len(m.names)-n]
		m.full = true
		m.drop()
		return
	}
	s.held += n
}

// keptNames is how many octets of room for names an idle session keeps.
const keptNames = 4 << 10

// end judges the message and answers.
func (s *session) end(last []byte) error {
	if s.hold(len(last)) {
		s.message.addBody(last)
	}
	defer s.reset()
	begin := time.Now()
	env := s.envelope()
	j, err := s.judge(env)
	if err != nil {
		return err
	}
	answer(s.w, s.contract, &s.message, j)
	s.report(env, j, time.Since(begin))
	return nil
}

// abort forgets the transaction. It also comes after a message that went well.
func (s *session) abort() {
	if s.message.open {
		s.server.count(func(n *Stats) { n.Aborted++ })
	}
	s.reset()
}

// reset makes ready for the next message of the same SMTP session.
func (s *session) reset() {
	s.server.held.Give(s.held)
	s.held = 0
	s.macros.queueID = ""
	names := s.message.names[:0]
	if cap(names) > keptNames {
		names = nil
	}
	s.message = message{names: names}
	s.conn.open(false)
}
