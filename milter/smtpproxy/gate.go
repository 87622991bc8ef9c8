package smtpproxy

import (
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"github.com/pires/go-proxyproto"
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
		g.server.logRefusal(peer(conn.RemoteAddr()), "", "", refusal)
		if _, sealed := conn.(*tls.Conn); !sealed { // else everybody would wait for the handshake that comes first
			// The socket is new: a short text fits its buffer without waiting.
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write([]byte(refusal))
		}
		conn.Close()
	}
}

// headerTime is how long a load balancer has for its PROXY header.
const headerTime = 10 * time.Second

// admit takes a connection on, or says why not. Behind a load balancer it is not known yet whose it is: client.Read
// asks enter once the PROXY header is there, since nobody else must wait for it.
func (s *Server) admit(conn net.Conn) (*client, reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return nil, replyStopping
	case len(s.clients) >= s.cfg.MaxConns && !s.makeRoom():
		s.counters.limited.Add(1)
		return nil, replyBusy
	}
	addr := peer(conn.RemoteAddr())
	balanced := inside(s.cfg.ProxyPeers, addr)
	if balanced {
		conn = proxyproto.NewConn(conn, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(headerTime))
	}
	c := newClient(s, conn, addr)
	c.balanced, c.sealed = balanced, c.secure()
	if !balanced {
		if refusal := s.enter(c, conn.LocalAddr().Network() == "unix"); refusal != "" {
			return nil, refusal
		}
	}
	s.clients[c] = true
	s.running.Add(1)
	s.counters.open.Add(1)
	s.counters.connections.Add(1)
	return c, ""
}

// enter decides whether a client may come in, and whether it is trusted: on a Unix socket the permissions have decided
// that, not a PROXY header that tells of one. s.mu is held.
func (s *Server) enter(c *client, unix bool) reply {
	c.trusted = inside(s.cfg.Trusted, c.addr) || unix
	switch {
	case c.trusted:
		return ""
	case len(s.cfg.RecipientDomains) == 0 && !s.introduces():
		s.counters.denied.Add(1)
		return replyDenied
	case s.perNetwork[network(c.addr)] >= s.cfg.MaxConnsPer:
		s.counters.limited.Add(1)
		return replyBusy
	}
	s.perNetwork[network(c.addr)]++
	c.counted = true
	return ""
}

// enterBalanced reads the header that a load balancer sends and lets its client in under its own address. A health
// check of the balancer itself (LOCAL) comes under the balancer's.
func (s *Server) enterBalanced(c *client) (refusal reply, ok bool) {
	header := c.conn.(*proxyproto.Conn).ProxyHeader()
	if header == nil {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.addr = peer(c.conn.RemoteAddr())
	refusal = s.enter(c, false)
	return refusal, refusal == ""
}

// forget strikes a connection off that ended.
func (s *Server) forget(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.clients[c] {
		return
	}
	delete(s.clients, c)
	if c.counted {
		of := network(c.addr)
		if s.perNetwork[of]--; s.perNetwork[of] == 0 {
			delete(s.perNetwork, of)
		}
	}
	s.counters.open.Add(-1)
	s.running.Done()
}

// searchEvery is how often at most makeRoom looks through all clients in vain.
const searchEvery = 100 * time.Millisecond

// makeRoom sends the client away whose next command was waited for longest, or whose content is late the most, if that is more
// than Timeouts.Busy: it is over the limit until it has heard so. Trusted clients stay, since theirs are the site's own servers.
// s.mu is held.
func (s *Server) makeRoom() bool {
	now := time.Now()
	if now.Sub(s.searched) < searchEvery {
		return false
	}
	var who *client
	longest := s.cfg.Timeouts.Busy
	for c := range s.clients {
		if d := c.silentFor(now); d >= longest {
			who, longest = c, d
		}
	}
	if who == nil {
		s.searched = now
		return false
	}
	who.dismiss()
	s.counters.limited.Add(1)
	return true
}

// network is that of a client that is not trusted, zero of one that is.
func (c *client) network() netip.Prefix {
	if !c.counted {
		return netip.Prefix{}
	}
	return network(c.addr)
}

// network is that of an address, as copies are counted by it: whoever has one address of it can have them all.
func network(addr netip.Addr) netip.Prefix {
	bits := 24
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits)
	return p
}

// inside tells whether an address is in one of the networks.
func inside(networks []netip.Prefix, addr netip.Addr) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// peer is an address without port and zone, invalid on a Unix socket.
func peer(a net.Addr) netip.Addr {
	addr, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return addr.Addr().Unmap().WithZone("")
}
