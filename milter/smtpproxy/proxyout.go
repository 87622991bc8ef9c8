package smtpproxy

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/pires/go-proxyproto"

	"spamsim/milter/filter"
)

// An origin is what a PROXY header tells the next hop: the version of the header, where the client is (not valid: unknown),
// and where it came to. The zero value is no header.
type origin struct {
	version  byte
	from, to netip.AddrPort
}

// whence is the client's origin: of the original one where XFORWARD told of one, else of the peer.
func (s *session) whence() origin {
	o := origin{version: s.server.cfg.NextHopProxy}
	if o.version == 0 {
		return o
	}
	o.from, o.to = addrPort(s.client.conn.RemoteAddr()), addrPort(s.client.conn.LocalAddr())
	if x := s.origin; x != nil {
		var env filter.Envelope
		x.describe(&env)
		addr, _ := netip.ParseAddr(env.ClientAddr)
		port, _ := strconv.ParseUint(x.get("PORT"), 10, 16)
		o.from = netip.AddrPortFrom(addr, uint16(port))
	}
	return o
}

// addrPort is an address without zone, of IPv4 where it is one of these mapped into IPv6; not valid for a Unix socket.
func addrPort(a net.Addr) netip.AddrPort {
	p, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port())
}

// addressed is what a header needs of a connection.
type addressed interface {
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

// header is what is to be sent first on a connection to the next hop. Both addresses in it are of one family: where the
// client came to one of the other, or to none, the second is the address that is none (0.0.0.0 or ::).
//
// An unknown client is LOCAL in version 2. The UNKNOWN of version 1 is an error to Postfix 3.7, so there the connection's
// own addresses stand, which is what either word asks the next hop to go by.
func (o origin) header(conn addressed) string {
	if o.version == 1 && !o.from.IsValid() {
		o.from, o.to = addrPort(conn.LocalAddr()), addrPort(conn.RemoteAddr())
	}
	h := proxyproto.Header{Version: o.version, Command: proxyproto.LOCAL}
	if o.from.IsValid() {
		h.Command, h.TransportProtocol = proxyproto.PROXY, proxyproto.TCPv6
		if o.from.Addr().Is4() {
			h.TransportProtocol = proxyproto.TCPv4
		}
		if !o.to.IsValid() || o.to.Addr().Is4() != o.from.Addr().Is4() {
			o.to = netip.AddrPortFrom(unspecified(o.from.Addr()), 0)
		}
		h.SourceAddr, h.DestinationAddr = net.TCPAddrFromAddrPort(o.from), net.TCPAddrFromAddrPort(o.to)
	}
	text, _ := h.Format() // fails for other versions alone, which New refuses
	return string(text)
}
