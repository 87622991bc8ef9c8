package dccifd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"spamsim/milter/filter"
)

// A session is one connection, which carries one request.
type session struct {
	server *Server
	conn   net.Conn
	r      *bufio.Reader
	held   int // octets that this session counts in the server's budget

	mu    sync.Mutex
	begun bool      // the client has said something
	until time.Time // when the request has to be here
}

// drainTime is how long a client that has said nothing may yet begin once the server stops.
const drainTime = 2 * time.Second

func newSession(s *Server, conn net.Conn) *session {
	c := &session{server: s, conn: conn, r: bufio.NewReaderSize(conn, 16<<10), until: time.Now().Add(s.requestTime())}
	_ = conn.SetReadDeadline(c.until) // of a connection that is gone the reads will tell
	return c
}

// begin notes that the client has begun: it is given its time, even if the server stops.
func (c *session) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = true
	_ = c.conn.SetReadDeadline(c.until)
}

// Drain makes a client that has not begun do so soon or never.
func (c *session) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if soon := time.Now().Add(drainTime); !c.begun && soon.Before(c.until) {
		_ = c.conn.SetReadDeadline(soon)
	}
}

// LogKeys are none: of a request that broke nothing is known.
func (c *session) LogKeys() []any { return nil }

// Converse answers the request, and says what was wrong with it.
func (c *session) Converse() error {
	if _, err := c.r.Peek(1); err != nil {
		return nil // somebody looked whether the door is there
	}
	q, err := readRequest(c.r, c.begin)
	if err != nil {
		c.refuse()
		return err
	}
	began := time.Now()
	raw, size, err := c.message()
	if raw == nil && q.body && err == nil {
		err = errNotKept
	}
	if err != nil {
		c.refuse()
		return fmt.Errorf("reading the message: %w", err)
	}
	v, err := c.verdict(q, raw, size)
	if err != nil {
		return err
	}
	c.server.report(&q.env, v, raw, size, time.Since(began))
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.server.requestTime()))
	if v.Kind == filter.Error {
		_, err = io.WriteString(c.conn, failure(c.server.ID))
	} else {
		err = writeAnswer(c.conn, q, c.server.ID, v, raw)
	}
	if err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// refuse answers a request that cannot be judged. The rest of it is read first: closing before would throw away our
// answer with what the client still sends.
func (c *session) refuse() {
	c.server.count(func(n *Stats) { n.Refused++ })
	_, _ = io.Copy(io.Discard, io.LimitReader(c.r, int64(c.server.maxMessage())))
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.server.requestTime()))
	_, _ = io.WriteString(c.conn, failure(c.server.ID))
}

// Why a message is answered by a failure before it is judged.
var (
	errFull    = errors.New("no memory for it")
	errNotKept = errors.New("too large to be sent back")
)

// message reads up to the half-close and returns the message with its size. One that is over the limit is read to its end
// and not kept.
func (c *session) message() (raw []byte, size int, err error) {
	limit := c.server.maxMessage()
	for size <= limit {
		if size == len(raw) {
			if raw, err = c.grow(raw, limit+1); err != nil {
				return nil, size, err
			}
		}
		n, err := c.r.Read(raw[size:])
		size += n
		if errors.Is(err, io.EOF) {
			return raw[:size], size, nil
		}
		if err != nil {
			return nil, size, err
		}
	}
	c.Release()
	rest, err := io.Copy(io.Discard, c.r)
	return nil, size + int(rest), err
}

// firstRoom is the room that a message gets at first, in octets; most need no more.
const firstRoom = 32 << 10

// grow makes room for more of the message, within what all messages may hold.
func (c *session) grow(raw []byte, most int) ([]byte, error) {
	room := min(max(2*len(raw), firstRoom), most)
	if !c.server.held.Take(room-len(raw), c.server.maxHeld()) {
		return nil, errFull
	}
	c.held += room - len(raw)
	more := make([]byte, room)
	copy(more, raw)
	return more, nil
}

// Release gives back what the message held.
func (c *session) Release() {
	c.server.held.Give(c.held)
	c.held = 0
}
