package smtpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a client's connection, octets.
const (
	readBuffer = 16 << 10 // one read of content; commands are shorter
	maxLine    = 12 << 10 // of a command: AUTH's are the longest, 12,288 octets (RFC 4954 section 4)
)

// A client is one connection as go-smtp's server sees it. go-smtp answers each command before it reads again, so what
// it writes between two calls of Read is its answer to the line that the first one gave it.
type client struct {
	server  *Server
	session *session
	conn    net.Conn
	r       *bufio.Reader

	addr     netip.Addr // of the peer; invalid on a Unix socket
	trusted  bool
	balanced bool // a PROXY header is to be read first
	sealed   bool // a TLS handshake is to be done first
	counted  bool // in Server.perNetwork

	feed     []byte      // of what go-smtp is to read
	line     []byte      // scratch of pass
	own      []byte      // go-smtp's answer to what it read last
	answered bool        // own is dropped: the answer is among the slots
	greeting bool        // own answers EHLO: if it accepts, our list of keywords is sent
	slots    []slot      // answers that were not sent yet, in order
	last     bool        // nothing is answered any more: the connection ends
	served   atomic.Bool // began a message
	out      []byte      // scratch of flush

	mu        sync.Mutex
	idle      bool      // reads a command outside a transaction
	since     time.Time // of when a command is waited for, or content that keeps its pace; zero amid anything else
	pace      time.Time // what since was, while content that came is passed on
	dismissed bool      // is to go, to make room
	closed    bool
}

// A slot is one answer to a client: the text, or what reads the next hop's reply, which is awaited.
type slot struct {
	text    reply
	pending func() reply // nil where text is the answer
}

// readers are those of connections that ended.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}

func newClient(s *Server, conn net.Conn, addr netip.Addr) *client {
	r := readers.Get().(*bufio.Reader)
	r.Reset(conn)
	c := &client{server: s, conn: conn, addr: addr, r: r}
	c.session = &session{server: s, client: c}
	return c
}

// Read gives go-smtp its next line. Commands that it does not know of, and those that nobody needs to hear, are
// answered here.
func (c *client) Read(p []byte) (n int, err error) {
	defer func() {
		if e := recover(); e != nil { // go-smtp catches what panics in a session, not in a connection
			c.server.log.Error("panic in a connection", "panic", e, "stack", string(debug.Stack()))
			n, err = 0, io.EOF
		}
	}()
	if c.r == nil {
		return 0, io.EOF // go-smtp reads once more after QUIT: what came behind it is not heard
	}
	if c.balanced && !c.arrive() || c.sealed && !c.shake() {
		return 0, io.EOF
	}
	for len(c.feed) == 0 {
		c.settle()
		line, err := c.next()
		if err != nil {
			return 0, err
		}
		c.feed = c.session.command(line)
	}
	n = copy(p, c.feed)
	c.feed = c.feed[n:]
	return n, nil
}

// arrive waits for the PROXY header. go-smtp's greeting is not sent before it is known whom it would greet.
func (c *client) arrive() bool {
	c.balanced = false
	refusal, ok := c.server.enterBalanced(c)
	if !ok {
		c.server.logRefusal(c.addr, "", "", refusal)
		c.own = c.own[:0]
		_ = c.end(refusal)
	}
	return ok
}

// Write takes go-smtp's answer.
func (c *client) Write(p []byte) (int, error) {
	c.own = append(c.own, p...)
	return len(p), nil
}

// settle decides what the last command's answer is: the session's, else go-smtp's own.
func (c *client) settle() {
	if len(c.own) > 0 && !c.answered {
		text := reply(c.own)
		if c.greeting && text.ok() {
			text = c.session.hello()
		}
		if c.session.cmd.verb == "DATA" { // go-smtp refuses it itself where no MAIL or RCPT has gone well
			c.session.noData(text)
		} else {
			c.answer(text)
		}
	}
	c.own, c.answered, c.greeting = c.own[:0], false, false
}

// answer puts an answer behind those that wait.
func (c *client) answer(r reply) {
	c.answered = true
	c.slots = append(c.slots, slot{text: r})
}

// later leaves room for an answer that is read when it is needed, in its turn.
func (c *client) later(read func() reply) {
	c.answered = true
	c.slots = append(c.slots, slot{pending: read})
}

// resolveAll reads all answers that were left for later.
func (c *client) resolveAll() {
	for i := range c.slots {
		if s := &c.slots[i]; s.pending != nil {
			*s = slot{text: s.pending()}
		}
	}
}

// pass makes a line that go-smtp is to read as it came.
func (c *client) pass(line []byte) []byte {
	c.line = append(append(c.line[:0], line...), '\r', '\n')
	return c.line
}

// more tells whether the client has sent a whole further line already.
func (c *client) more() bool {
	buffered, _ := c.r.Peek(c.r.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// next reads a command line, valid until the next read. The answers so far are sent before it waits.
func (c *client) next() ([]byte, error) {
	if !c.more() {
		if err := c.flush(); err != nil {
			return nil, err
		}
	}
	if c.last {
		return nil, io.EOF
	}
	if !c.await() {
		return nil, c.end(replyStopping)
	}
	line, err := c.r.ReadSlice('\n')
	c.resume()
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine:
		return nil, c.end(replyLongLine)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, c.end(c.farewell())
	case err != nil:
		return nil, io.EOF
	}
	return trimEnd(line), nil
}

// end says a last word. What waits to be answered is, while there is still a session to ask.
func (c *client) end(r reply) error {
	c.answer(r)
	_ = c.flush()
	c.last = true
	return io.EOF
}

// await sets the time that the client has for its next command; false where there is to be none.
func (c *client) await() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = !c.session.open()
	if c.idle && c.leaves() && c.r.Buffered() == 0 {
		return false
	}
	c.since = time.Now()
	_ = c.conn.SetReadDeadline(c.since.Add(c.server.cfg.Timeouts.Command))
	return true
}

// awaitContent sets the time until which more content must come, after so many more octets did, which it took so long to pass on;
// false where the client is to go.
func (c *client) awaitContent(now time.Time, came int, took time.Duration, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dismissed {
		return false
	}
	if pace := c.pace.Add(took + time.Duration(came)*time.Second/busyRate); c.pace.IsZero() || pace.After(now) {
		c.since = now
	} else {
		c.since = pace
	}
	_ = c.conn.SetReadDeadline(until)
	return true
}

// passOn says that content came and is passed on: while the next hop takes its time the client is not late.
func (c *client) passOn() {
	c.mu.Lock()
	c.pace, c.since = c.since, time.Time{}
	c.mu.Unlock()
}

func (c *client) resume() {
	c.mu.Lock()
	c.idle, c.since, c.pace = false, time.Time{}, time.Time{}
	c.mu.Unlock()
}

// silentFor is how long a client that may be sent away has not said what it wants, or by how much its content is late.
func (c *client) silentFor(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trusted || c.dismissed || c.since.IsZero() {
		return 0
	}
	return now.Sub(c.since)
}

// dismiss ends the wait for a client's next command or more content, and lets it hear so if it listens.
func (c *client) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dismissed = true
	_ = c.conn.SetReadDeadline(past)
}

// farewell is said to a client that was waited for in vain.
func (c *client) farewell() reply {
	if c.leaves() {
		return replyStopping
	}
	return replySilent
}

// nudge ends the wait for a command of a client that is in no transaction.
func (c *client) nudge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.leaves() {
		_ = c.conn.SetReadDeadline(past)
	}
}

// leaves tells whether no further message is taken from a client.
func (c *client) leaves() bool {
	return c.server.draining.Load() && (!c.server.retiring.Load() || c.served.Load())
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// flush sends the answers that wait in one write: several small ones cost a delayed acknowledgement each.
func (c *client) flush() error {
	c.out = c.out[:0]
	c.resolveAll()
	for _, s := range c.slots {
		c.out = append(c.out, s.text...)
		if s.text.code() == 421 { // RFC 5321 section 3.8: whoever says so closes
			c.last = true
			break
		}
	}
	c.slots = c.slots[:0]
	if len(c.out) == 0 {
		return nil
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.patience()))
	_, err := c.conn.Write(c.out)
	return err
}

// lastWord is how long a client that is sent away may take to hear it.
const lastWord = time.Second

// patience is how long a client may take to hear an answer.
func (c *client) patience() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dismissed {
		return lastWord
	}
	return c.server.cfg.Timeouts.Command
}

// Close sends what is still to be said and ends the connection. go-smtp calls it once it has no more to do.
func (c *client) Close() error {
	defer c.server.forget(c)
	if c.r == nil {
		return nil
	}
	c.settle()
	if c.session.cmd.verb == "QUIT" { // behind others there may be more, and octets unread cut what is corked off
		cork(c.conn)
	}
	_ = c.flush()
	c.r.Reset(nil)
	readers.Put(c.r)
	c.r = nil
	return c.cut()
}

// cut ends the connection as it is. It may be called while the client is read from.
func (c *client) cut() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return c.conn.Close()
}

// LocalAddr is the address that the client connected to.
func (c *client) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// RemoteAddr is the client's address.
func (c *client) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// SetDeadline does nothing: each wait here has a deadline of its own.
func (c *client) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (c *client) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (c *client) SetWriteDeadline(time.Time) error { return nil }

// urgent sends what waits at once.
func (c *client) urgent() {
	if c.flush() != nil {
		c.last = true
	}
}
