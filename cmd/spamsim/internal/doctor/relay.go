package doctor

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"spamsim/cmd/spamsim/internal/config"
)

// foreign is a recipient at no site (RFC 2606 section 2).
const foreign = "spamsim-doctor@relay.invalid"

// stranger is an address that is nobody's (RFC 5737), told in a PROXY header.
const stranger = "192.0.2.1"

// openness finds out whether a stranger could send to anybody through a listener: by trying where this host has an address
// that is a stranger's, else it says that it could not.
func (f *findings) openness(ctx context.Context, s *Site, leg string, a config.Address, lmtp bool) {
	if a.Network == "unix" {
		f.add(leg, Good, "a Unix socket: its mode decides who may send, and who may is trusted")
		return
	}
	world := !loopback(a)
	t, how, err := strange(ctx, s.Config, a)
	switch {
	case t == nil && world:
		f.add(leg, Unknown, "open to the network, and no address of this host is a stranger's, so that it could not be tried whether "+
			"a foreign recipient is refused. From outside: swaks --server HOST:PORT --to %s --quit-after RCPT", foreign)
		return
	case t == nil:
		f.add(leg, Good, "on loopback: only this host reaches it")
		return
	case err != nil:
		f.add(leg, Good, "a stranger (%s) is turned away: %v", how, err)
		return
	}
	defer t.close()
	t.lmtp = lmtp
	refusal, err := t.offerForeign(s.Config.ID)
	if err != nil {
		f.add(leg, Danger, "A FOREIGN RECIPIENT WAS TAKEN from a stranger (%s): an open relay. %v", how, err)
		return
	}
	f.add(leg, Good, "a foreign recipient from a stranger (%s) is refused: %s", how, refusal)
	if world && !introduces(s.Config) && len(s.Config.SMTP.RecipientDomains) > 0 {
		f.add(leg, Lost, "open to the network without smtp.xclient or smtp.next_hop_proxy: the next hop sees spamsim's address in place of the client's, "+
			"so that its SPF, block lists and limits do not hold")
	}
}

// introduces tells whether the next hop hears of each client as if the client had come to it.
func introduces(c *config.Loaded) bool { return c.SMTP.XCLIENT || c.SMTP.NextHopProxy != "" }

// offerForeign goes as far as RCPT and returns how that was refused; an error is that it was not.
func (t *talk) offerForeign(name string) (refusal string, err error) {
	if err := t.greet(name); err != nil {
		return err.Error(), nil
	}
	defer func() { _, _, _ = t.ask("QUIT") }()
	if _, err := t.must("MAIL FROM:<>"); err != nil {
		return err.Error(), nil
	}
	code, text, err := t.ask("RCPT TO:<" + foreign + ">")
	switch {
	case err != nil:
		return err.Error(), nil
	case code/100 == 2:
		return "", fmt.Errorf("RCPT TO:<%s> was answered %d %s", foreign, code, firstLine(text))
	}
	return fmt.Sprintf("%d %s", code, firstLine(text)), nil
}

// strange connects as a stranger: with a PROXY header where this host is a load balancer, else from an address of this
// host that is not trusted. t is nil where there is none; err is a listener that turns it away.
func strange(ctx context.Context, c *config.Loaded, a config.Address) (t *talk, how string, err error) {
	if balanced(c, a) && !within(c.SMTP.Trusted, netip.MustParseAddr(stranger)) {
		t, err := dial(ctx, a.Network, reachable(a), nil)
		if err != nil {
			return &talk{}, stranger, err
		}
		_, err = fmt.Fprintf(t.conn, "PROXY TCP4 %s 198.51.100.1 4242 25\r\n", stranger)
		return t, "the PROXY header says " + stranger, err
	}
	host, port, err := net.SplitHostPort(a.Addr)
	if err != nil {
		return nil, "", nil
	}
	for _, from := range own(host) {
		if within(c.SMTP.Trusted, from) || within(c.SMTP.ProxyProtocol, from) {
			continue
		}
		to := host
		if ip, err := netip.ParseAddr(host); err != nil || ip.IsUnspecified() {
			to = from.String()
		}
		local := net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
		if t, err := dial(ctx, "tcp", net.JoinHostPort(to, port), local); err == nil {
			return t, "from " + from.String(), nil
		}
	}
	return nil, "", nil
}

// own are addresses of this host from which a listener on host can be reached.
func own(host string) []netip.Addr {
	var out []netip.Addr
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.IsUnspecified() || ip.IsLoopback() {
		out = append(out, netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")) // all of 127/8 is here on Linux
	}
	if err == nil && ip.IsLoopback() {
		return out
	}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		p, perr := netip.ParsePrefix(a.String())
		if perr == nil && !p.Addr().IsLoopback() && !p.Addr().IsLinkLocalUnicast() &&
			(err != nil || ip.IsUnspecified() || ip.Is4() == p.Addr().Is4()) {
			out = append(out, p.Addr())
		}
	}
	return out
}

// loopback tells whether a listener is for this host alone.
func loopback(a config.Address) bool {
	host, _, err := net.SplitHostPort(a.Addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// balanced tells whether a connection from this host to a listener has to begin with a PROXY header.
func balanced(c *config.Loaded, a config.Address) bool {
	host, _, err := net.SplitHostPort(reachable(a))
	ip, perr := netip.ParseAddr(host)
	return a.Network == "tcp" && err == nil && perr == nil && within(c.SMTP.ProxyProtocol, ip.Unmap())
}

func within(list []config.Network, a netip.Addr) bool {
	for _, n := range list {
		if n.Contains(a) {
			return true
		}
	}
	return false
}
