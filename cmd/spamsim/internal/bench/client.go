package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
	"time"
)

// A client sends messages over one connection and waits for each reply, as smtp-source does.
type client struct {
	conn net.Conn
	r    *bufio.Reader
}

// patience is how long anything may take before the measurement is given up.
const patience = 30 * time.Second

func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{conn, bufio.NewReader(conn)}
	if err := c.expect('2'); err != nil {
		return nil, err
	}
	return c, c.do("EHLO bench.example", '2')
}

// send sends one message.
func (c *client) send(m *mail) error {
	if err := c.do("MAIL FROM:<"+m.sender+">", '2'); err != nil {
		return err
	}
	if err := c.do("RCPT TO:<"+m.recipient+">", '2'); err != nil {
		return err
	}
	if err := c.do("DATA", '3'); err != nil {
		return err
	}
	return c.do(string(bytes.ReplaceAll(m.raw, []byte("\r\n."), []byte("\r\n..")))+".", '2') // RFC 5321 section 4.5.2
}

// do sends a line, or content with its final dot, and wants a reply of a class.
func (c *client) do(line string, class byte) error {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := c.conn.Write([]byte(line + "\r\n")); err != nil {
		return err
	}
	return c.expect(class)
}

// expect reads a reply, of several lines perhaps.
func (c *client) expect(class byte) error {
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return err
		}
		if line[0] != class {
			return fmt.Errorf("the reply was %q", strings.TrimSpace(line))
		}
		if len(line) < 4 || line[3] != '-' {
			return nil
		}
	}
}
