package smtpproxy

import (
	"net"
	"net/netip"
	"time"
)

// A gate is a listener that turns away clients that may not come in, and gives go-smtp the others.
type gate struct {
	net.Listener
	server *Server
}

// Accept returns the next client that may come in.
func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, refusal := g.server.admit(conn)
		if refusal == "" {
			return c, nil
		}
		// The socket is new: a short text fits its buffer without waiting.
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = conn.Write([]byte(refusal))
		conn.Close()
	}
}

// admit takes a connection on, or says why not.
func (s *Server) admit(conn net.Conn) (*client, reply) {
	addr := peer(conn)
	trusted := s.trusts(conn, addr)
	if !trusted && len(s.cfg.RecipientDomains) == 0 {
		s.counters.denied.Add(1)
		return nil, replyDenied
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return nil, replyStopping
	case len(s.clients) >= s.cfg.MaxConns, !trusted && s.perAddr[addr] >= s.cfg.MaxConnsPer:
		s.counters.limited.Add(1)
		return nil, replyBusy
	}
	c := newClient(s, conn, addr, trusted)
	s.clients[c] = true
	if !trusted {
		s.perAddr[addr]++
	}
	s.running.Add(1)
	s.counters.open.Add(1)
	s.counters.connections.Add(1)
	return c, ""
}

// forget strikes a connection off that ended.
func (s *Server) forget(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.clients[c] {
		return
	}
	delete(s.clients, c)
	if !c.trusted {
		if s.perAddr[c.addr]--; s.perAddr[c.addr] == 0 {
			delete(s.perAddr, c.addr)
		}
	}
	s.counters.open.Add(-1)
	s.running.Done()
}

// trusts tells whether a peer is one of Config.Trusted. On a Unix socket the permissions have decided who may come.
func (s *Server) trusts(conn net.Conn, addr netip.Addr) bool {
	if conn.LocalAddr().Network() == "unix" {
		return true
	}
	for _, p := range s.cfg.Trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// peer is the address of a connection's other end, invalid on a Unix socket.
func peer(conn net.Conn) netip.Addr {
	a, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap().WithZone("")
}
