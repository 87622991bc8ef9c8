package smtpproxy

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"spamsim/milter/filter"
)

// introduces tells whether the next hop hears of each client as if the client had come to it itself.
func (s *Server) introduces() bool {
	_, speaks := s.hop.(*pool)
	return speaks && (s.cfg.XCLIENT || s.cfg.NextHopProxy != 0)
}

// route is the next hop of the session's next transaction: with XCLIENT and PROXY a pool of the client's own, since
// connections that speak for one client must not serve another.
func (s *session) route() nextHop {
	if s.login {
		return s.own
	}
	if !s.server.introduces() {
		return s.server.hop
	}
	var who xforward
	if s.server.cfg.XCLIENT {
		who = s.identity()
	}
	whence := s.whence()
	if s.own != nil && slices.Equal(s.own.client, who) && s.own.origin == whence {
		return s.own
	}
	s.leave()
	shared := s.server.hop.(*pool)
	s.own = newPool(s.server, shared.network, shared.address, shared.lmtp)
	s.own.client, s.own.origin = who, whence
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

// introduce says XCLIENT, with as much as the next hop takes, and greets it anew. One that takes no address is an ErrBlind:
// it would take the client for the proxy, which it trusts.
func (p *pool) introduce(r *remote) error {
	if p.client == nil {
		return nil
	}
	if !slices.Contains(r.offer.client, "ADDR") {
		return fmt.Errorf("%w: it does not offer XCLIENT", ErrBlind)
	}
	for _, line := range p.client.lines("XCLIENT", r.offer.client) {
		answer, err := r.ask(line)
		if err == nil && !answer.ok() {
			err = refusal(answer)
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

// refusal is the error of a next hop that refuses to hear of the client, for good or for now.
func refusal(answer reply) error {
	if answer[0] == '5' {
		return fmt.Errorf("%w: %s", ErrBlind, answer.line())
	}
	return fmt.Errorf("%w: %s", errGreeting, answer.line())
}

// TryNextHop connects to the next hop as for this host itself and returns nil where it may be introduced to clients, or
// where Config does not ask for that. An error that is ErrBlind will not pass by itself; any other says that the next hop
// is not available now.
func (s *Server) TryNextHop() error {
	if !s.introduces() {
		return nil
	}
	shared := s.hop.(*pool)
	p := newPool(s, shared.network, shared.address, shared.lmtp)
	if s.cfg.XCLIENT {
		p.client = clientAttributes(s.cfg.Hostname, "ESMTP", "127.0.0.1", "", "")
	}
	p.origin.version = s.cfg.NextHopProxy
	r, err := p.dial()
	if err != nil {
		return err
	}
	r.quit()
	return nil
}
