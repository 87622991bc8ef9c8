package milter

import (
	"bytes"
	"net/netip"
	"strings"
)

// longest bounds what is kept of one address, name or macro, in octets. RFC 5321 section 4.5.3.1 has 256 for a path and
// 255 for a domain.
const longest = 1024

// cString cuts a string that ends at NUL off the front; a missing NUL ends it at the end.
func cString(data []byte) (s, rest []byte) {
	s, rest, _ = bytes.Cut(data, []byte{0})
	return s, rest
}

// kept is a string of the MTA's in our memory, not longer than it may be.
func kept(s []byte) string { return string(s[:min(len(s), longest)]) }

// connectAddr reads the client's address out of CONNECT: host name NUL, family, and for 4 and 6 a port of two octets
// and the address NUL. It is "" for clients without one: L (a Unix socket) and U (unknown).
func connectAddr(data []byte) string {
	_, rest := cString(data)
	if len(rest) < 3 || (rest[0] != '4' && rest[0] != '6') {
		return ""
	}
	addr, _ := cString(rest[3:])
	return ipText(string(addr))
}

// ipText writes an address as the rest of spamsim does, "" where it is none. Sendmail writes "IPv6:" before one of
// version 6.
func ipText(s string) string {
	const prefix = "ipv6:"
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		s = s[len(prefix):]
	}
	ip, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return ""
	}
	return ip.Unmap().WithZone("").String()
}

// address reads the address out of MAIL or RCPT, without the angle brackets. ESMTP parameters follow it and are not
// needed.
func address(data []byte) string {
	a, _ := cString(data)
	s := kept(bytes.TrimSpace(a))
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		s = s[1 : len(s)-1]
	}
	return s
}

// macros are those that say something to us, the last value of each. Others are not kept.
type macros struct {
	queueID    string // i
	clientAddr string // {client_addr}
	authen     string // {auth_authen}, the user name; {auth_type} where an MTA sends only that
}

// add merges the macros of one stage into what earlier stages sent: a stage repeats only some. A name stands with or
// without braces, whatever its length.
func (m *macros) add(data []byte) {
	if len(data) == 0 {
		return
	}
	for data = data[1:]; len(data) > 0; { // the first octet is the command that they belong to
		var name, value []byte
		name, data = cString(data)
		value, data = cString(data)
		if len(value) == 0 {
			continue
		}
		switch string(bytes.Trim(name, "{}")) {
		case "i":
			m.queueID = kept(value)
		case "client_addr":
			m.clientAddr = kept(value)
		case "auth_authen", "auth_type":
			m.authen = kept(value)
		}
	}
}
