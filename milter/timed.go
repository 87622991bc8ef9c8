package milter

import (
	"net"
	"sync"
	"time"
)

// inPacket is how long the rest of a packet may take once its first octet came.
const inPacket = time.Minute

// drainGrace is how long, once the server drains, an MTA may be silent between two messages: long enough for one that
// has a message ready, short enough for a restart.
const drainGrace = 2 * time.Second

// A timedConn sets a deadline before each wait of its reader.
type timedConn struct {
	net.Conn
	idle time.Duration // between packets
	ack  func()        // has what comes acknowledged at once

	mu       sync.Mutex
	waiting  bool // between packets, not inside one
	message  bool // a message is open
	draining bool
}

// Read waits for at most what the state of the conversation allows.
func (c *timedConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	err := c.Conn.SetReadDeadline(time.Now().Add(c.patience()))
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	c.ack()
	return c.Conn.Read(p)
}

// Write gives the MTA as long to take an answer as to finish a packet.
func (c *timedConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(inPacket)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// patience is how long the next read may take; mu is held.
func (c *timedConn) patience() time.Duration {
	switch {
	case !c.waiting:
		return inPacket
	case c.draining && !c.message:
		return drainGrace
	}
	return c.idle
}

func (c *timedConn) between() { c.set(&c.waiting, true) }
func (c *timedConn) inside()  { c.set(&c.waiting, false) }

// open notes that a message begins or is over.
func (c *timedConn) open(is bool) { c.set(&c.message, is) }

func (c *timedConn) set(state *bool, to bool) {
	c.mu.Lock()
	*state = to
	c.mu.Unlock()
}

// drain lets the connection end soon after its message. A read that waits between messages is cut short.
func (c *timedConn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	if c.waiting && !c.message {
		_ = c.Conn.SetReadDeadline(time.Now().Add(drainGrace))
	}
}
