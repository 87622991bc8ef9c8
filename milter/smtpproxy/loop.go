package smtpproxy

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// loops tells whether mail to the next hop would come back to a listener's address.
func (s *Server) loops(listen string) bool {
	p, ok := s.hop.(*pool)
	if !ok || p.network != "tcp" {
		return ok && p.address == listen
	}
	host, port, err := net.SplitHostPort(listen)
	hopHost, hopPort, err2 := net.SplitHostPort(p.address)
	if err != nil || err2 != nil || port != hopPort {
		return false
	}
	here := addresses(host)
	for _, addr := range addresses(hopHost) {
		if slices.Contains(here, addr) || slices.Contains(here, unspecified(addr)) && local(addr) {
			return true
		}
	}
	return strings.EqualFold(host, hopHost)
}

// addresses are those of a host, its own where it is one; "" is any.
func addresses(host string) []netip.Addr {
	if host == "" {
		return []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr == netip.IPv6Unspecified() { // which takes IPv4 too
			return []netip.Addr{addr, netip.IPv4Unspecified()}
		}
		return []netip.Addr{addr.Unmap()}
	}
	ips, _ := net.LookupIP(host)
	var all []netip.Addr
	for _, ip := range ips {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			all = append(all, addr.Unmap())
		}
	}
	return all
}

// unspecified is the address that stands for all of addr's kind.
func unspecified(addr netip.Addr) netip.Addr {
	if addr.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// local tells whether an address is one of this host.
func local(addr netip.Addr) bool {
	if addr.IsLoopback() || addr.IsUnspecified() {
		return true
	}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == addr {
			return true
		}
	}
	return false
}
