package source

import (
	"bytes"
	"net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"spamsim/milter/filter"
)

// Envelope guesses the transaction by which a stored message came: the sender is its Return-Path, else From; the
// recipients are Delivered-To, else To and Cc; the client is the first untrusted host of its Received fields, or ""
// where none is told. Time is zero: see Dates. Door is "check".
func (h Header) Envelope(trusted []netip.Prefix) *filter.Envelope {
	env := &filter.Envelope{Door: "check", Sender: h.sender(), ClientAddr: client(h["received"], trusted)}
	for _, name := range []string{"delivered-to", "to", "cc"} {
		if name == "to" && len(env.Recipients) > 0 {
			break
		}
		for _, v := range h[name] {
			env.Recipients = append(env.Recipients, addresses(v)...)
		}
	}
	slices.Sort(env.Recipients)
	env.Recipients = slices.Compact(env.Recipients)
	return env
}

// Dates returns when a message arrived, by its topmost Received field, and when it was written, by its Date field;
// zero where a field is missing or cannot be read.
func (h Header) Dates() (arrived, written time.Time) {
	if r := h["received"]; len(r) > 0 {
		arrived = date(r[0][strings.LastIndexByte(r[0], ';')+1:])
	}
	if d := h["date"]; len(d) > 0 {
		written = date(d[0])
	}
	return arrived, written
}

// MessageID returns the Message-ID without its angle brackets, "" where there is none.
func (h Header) MessageID() string {
	for _, v := range h["message-id"] {
		return strings.TrimSuffix(strings.TrimPrefix(v, "<"), ">")
	}
	return ""
}

// A Header is what the header of a message says of its envelope: the values of those fields by name in lower case,
// unfolded, in order.
type Header map[string][]string

// maxHeader bounds how much of a message is searched for its header, in octets.
const maxHeader = 256 << 10

// wanted are the fields that say something of the envelope.
var wanted = []string{"return-path", "from", "delivered-to", "to", "cc", "received", "date", "message-id"}

// ReadHeader reads the header of a message up to the first line that belongs to none.
func ReadHeader(raw []byte) Header {
	h := Header{}
	raw = raw[:min(len(raw), maxHeader)]
	for len(raw) > 0 {
		field := raw[:fieldEnd(raw)]
		raw = raw[len(field):]
		name, value, ok := bytes.Cut(field, []byte(":"))
		if !ok || bytes.IndexByte(name, '\n') >= 0 { // the empty line, or the body of a message without one
			break
		}
		if key := strings.ToLower(string(bytes.TrimSpace(name))); slices.Contains(wanted, key) {
			h[key] = append(h[key], unfold(value))
		}
	}
	return h
}

// unfold takes out the line ends that folding put in (RFC 5322 section 2.2.3).
func unfold(value []byte) string {
	s := strings.TrimSpace(string(value))
	if strings.Contains(s, "\n") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", ""), "\n", "")
	}
	return s
}

// fieldEnd returns the length of the field at the head of raw: its line, and the lines after it that begin with a
// blank.
func fieldEnd(raw []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(raw[i:], '\n')
		if n < 0 {
			return len(raw)
		}
		i += n + 1
		if i == len(raw) || raw[i] != ' ' && raw[i] != '\t' {
			return i
		}
	}
}

// sender is the envelope sender: "" where Return-Path says so (a bounce) or nothing is known.
func (h Header) sender() string {
	for _, v := range h["return-path"] {
		if v == "<>" {
			return ""
		}
		if a := addresses(v); len(a) > 0 {
			return a[0]
		}
	}
	for _, v := range h["from"] {
		if a := addresses(v); len(a) > 0 {
			return a[0]
		}
	}
	return ""
}

// addrSpec finds addresses in a field that is not well formed.
var addrSpec = regexp.MustCompile(`[^\s<>()\[\],;:"@]+@[A-Za-z0-9.-]+`)

// addresses returns the addr-specs of a field.
func addresses(v string) []string {
	var out []string
	if list, err := mail.ParseAddressList(v); err == nil {
		for _, a := range list {
			out = append(out, a.Address)
		}
		return out
	}
	return addrSpec.FindAllString(v, -1)
}

// client returns the address of the first host outside the trusted networks.
func client(received []string, trusted []netip.Prefix) string {
	for _, v := range received {
		from, _, _ := strings.Cut(strings.ReplaceAll(v, "\t", " "), " by ")
		ip, ok := hostAddr(from)
		switch {
		case !ok && (!strings.HasPrefix(strings.ToLower(from), "from ") || strings.Contains(v, " with LMTP")):
			continue // handed over inside a host
		case !ok:
			return ""
		case slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip) }):
			continue
		}
		return ip.String()
	}
	return ""
}

// literal finds an address in brackets or parentheses, as all MTAs write the client's: "(name [192.0.2.1])",
// "([192.0.2.1] helo=name)", "(192.0.2.1)", "[IPv6:2001:db8::1]" (RFC 5321 section 4.4). What Exim writes behind "helo=" and
// "ident=" are the client's own words, which are taken in so that they are told from an address.
var literal = regexp.MustCompile(`(?:(?:helo|ident)=)?[\[(](?i:ipv6:)?([0-9A-Fa-f:.]{3,45})(?:%[^\])]*)?(?::[0-9]+)?[\])]`)

// hostAddr returns the address of a "from" clause. What the client said of itself (HELO) comes before what the server saw,
// but for Exim's words, so the last one counts.
func hostAddr(from string) (netip.Addr, bool) {
	all := literal.FindAllStringSubmatch(from, -1)
	for _, m := range slices.Backward(all) {
		said := m[0][0] != '[' && m[0][0] != '('
		if ip, err := netip.ParseAddr(m[1]); err == nil && !said {
			return ip.Unmap(), true
		}
	}
	return netip.Addr{}, false
}

// date reads a date of RFC 5322 and of its older, laxer relatives.
func date(v string) time.Time {
	if t, err := mail.ParseDate(strings.Join(strings.Fields(v), " ")); err == nil {
		return t.UTC()
	}
	return time.Time{}
}
