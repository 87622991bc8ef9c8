package smtpproxy

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"spamsim/milter/filter"
)

// route is the next hop of the session's next transaction: with XCLIENT a pool of the client's own, since connections
// that speak for one client must not serve another.
func (s *session) route() nextHop {
	if s.login {
		return s.own
	}
	shared, ok := s.server.hop.(*pool)
	if !ok || !s.server.cfg.XCLIENT {
		return s.server.hop
	}
	who := s.identity()
	if s.own != nil && slices.Equal(s.own.client, who) {
		return s.own
	}
	s.leave()
	s.own = newPool(s.server, shared.network, shared.address, shared.lmtp)
	s.own.client = who
	return s.own
}

// leave ends the connections that are the client's own.
func (s *session) leave() {
	if s.own != nil {
		s.own.close()
		s.own, s.login = nil, false
	}
}

// identity is what XCLIENT tells: of the original client where XFORWARD told of one, else of the peer.
func (s *session) identity() xforward {
	if x := s.origin; x != nil {
		var env filter.Envelope
		x.describe(&env)
		return clientAttributes(env.Helo, x.get("PROTO"), env.ClientAddr, x.get("PORT"), x.get("NAME"))
	}
	proto := "ESMTP"
	if s.plain {
		proto = "SMTP"
	}
	if !s.client.addr.IsValid() {
		return clientAttributes(s.helo, proto, "", "", "")
	}
	_, port, _ := net.SplitHostPort(s.client.conn.RemoteAddr().String())
	return clientAttributes(s.helo, proto, s.client.addr.String(), port, "")
}

// clientAttributes puts values in XCLIENT's form. NAME and ADDR come last, since a server may apply its rules about
// clients as soon as it knows them.
func clientAttributes(helo, proto, addr, port, name string) xforward {
	if strings.Contains(addr, ":") {
		addr = "IPV6:" + addr
	}
	x := xforward{{"HELO", helo}, {"PROTO", proto}, {"PORT", port}, {"NAME", name}, {"ADDR", addr}}
	for i := range x {
		x[i].value = encodeXtext(x[i].value)
		if x[i].value == "" || len(x[i].value) > maxForwardValue {
			x[i].value = unavailable
		}
	}
	return x
}

// encodeXtext is the form of RFC 3461 section 4.
func encodeXtext(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '+' || c == '=' {
			fmt.Fprintf(&b, "+%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// introduce says XCLIENT, as far as the next hop takes it, and greets it anew.
func (p *pool) introduce(r *remote) error {
	lines := p.client.lines("XCLIENT", r.offer.client)
	for _, line := range lines {
		answer, err := r.ask(line)
		if err == nil && !answer.ok() {
			err = fmt.Errorf("%w: %s", errGreeting, answer.line())
		}
		if err == nil {
			err = r.hello(p.server.cfg.Hostname, p.lmtp)
		}
		if err != nil {
			return fmt.Errorf("XCLIENT to next hop: %w", err)
		}
	}
	return nil
}
