package smtpproxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"
)

// handshakeTime bounds a TLS handshake.
const handshakeTime = 30 * time.Second

// secure tells whether the client's connection is encrypted.
func (c *client) secure() bool {
	_, ok := c.conn.(*tls.Conn)
	return ok
}

// shake does the handshake of a connection that speaks TLS from the first octet. Writing the greeting would do it, but then
// nothing bounds how long a client is silent amid it. One that is not through with it hears nothing.
func (c *client) shake() bool {
	c.sealed = false
	ok := c.await()
	if ok {
		ctx, cancel := context.WithTimeout(c.server.base, handshakeTime)
		defer cancel()
		ok = c.conn.(*tls.Conn).HandshakeContext(ctx) == nil
		c.resume()
	}
	if !ok {
		c.own, c.last = c.own[:0], true
	}
	return ok
}

// certified tells whether the client has shown a certificate that Config.TLS accepts (ClientCAs).
func (c *client) certified() bool {
	conn, ok := c.conn.(*tls.Conn)
	return ok && len(conn.ConnectionState().VerifiedChains) > 0
}

// offersTLS tells whether STARTTLS is to be had.
func (s *session) offersTLS() bool { return s.server.cfg.TLS != nil && !s.client.secure() }

// startTLS takes the client's STARTTLS (RFC 3207). go-smtp does not hear of it: the session begins anew here. What the
// client sent in plain text behind the command is dropped unread, since somebody else may have put it there.
func (s *session) startTLS() {
	c := s.client
	switch {
	case s.server.cfg.TLS == nil:
		c.answer(replyNotHere)
		return
	case c.secure():
		c.answer(replyHasTLS)
		return
	case s.open():
		c.answer(replyInMail)
		return
	}
	c.answer(replyStartTLS)
	c.urgent()
	if c.last {
		return
	}
	ctx, cancel := context.WithTimeout(s.server.base, handshakeTime)
	defer cancel()
	_ = c.conn.SetDeadline(time.Time{})
	conn := tls.Server(c.conn, s.server.cfg.TLS)
	if err := conn.HandshakeContext(ctx); err != nil {
		s.server.log.Debug("TLS handshake with client failed", "door", s.server.door(), "err", err)
		c.last = true
		return
	}
	c.encrypt(conn)
	s.Reset()
	s.leave()
	s.helo = ""
}

// encrypt goes on over TLS.
func (c *client) encrypt(conn net.Conn) {
	c.mu.Lock()
	c.conn = conn
	c.mu.Unlock()
	c.r.Reset(conn)
}

// startTLS encrypts a connection to the next hop, which must offer it and show a certificate that config accepts.
func (r *remote) startTLS(ctx context.Context, config *tls.Config, name string) error {
	if !r.offer.startTLS {
		return fmt.Errorf("%w TLS: it does not offer STARTTLS", errGreeting)
	}
	answer, err := r.ask("STARTTLS")
	if err != nil {
		return fmt.Errorf("STARTTLS to next hop: %w", err)
	}
	if !answer.ok() || r.r.Buffered() > 0 { // what came behind the answer in plain text is not the server's
		return fmt.Errorf("%w STARTTLS: %s", errGreeting, answer.line())
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName = name
	}
	conn := tls.Client(r.conn, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake with next hop: %w", err)
	}
	r.conn = conn
	r.r.Reset(conn)
	return nil
}
