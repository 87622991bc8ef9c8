package smtpproxy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"spamsim/milter/filter"
)

// xforward is what XFORWARD told of the original client, in Postfix's words (XFORWARD_README): attribute names in
// upper case, values as they came, in the order of their coming. The first command of a transaction makes all others
// unavailable; those of several commands add up. nil is that nothing was told.
type xforward []attribute

type attribute struct{ name, value string }

// forwardNames are the attributes that are taken.
var forwardNames = []string{"NAME", "ADDR", "PORT", "PROTO", "HELO", "IDENT", "SOURCE"}

// Bounds of XFORWARD_README.
const (
	maxForwardValue = 255 // octets, decoded
	maxForwardLine  = 512 // octets, with CRLF
)

// unavailable is a value that says nothing.
const unavailable = "[UNAVAILABLE]"

// xforward takes the client's XFORWARD.
func (s *session) xforward() reply {
	switch {
	case !s.client.trusted:
		return replyNotTrusted
	case s.open():
		return replyInMail
	}
	given, ok := parseForward(s.cmd.args)
	if !ok {
		return replyBadXforward
	}
	s.origin = s.origin.merge(given)
	return replyOk
}

// parseForward reads the arguments of XFORWARD; ok is false unless each is a known attribute with a fair value.
func parseForward(args string) (x xforward, ok bool) {
	for word := range strings.FieldsSeq(args) {
		name, value, found := strings.Cut(word, "=")
		name = strings.ToUpper(name)
		text := xtext(value)
		if !found || !slices.Contains(forwardNames, name) || len(text) > maxForwardValue || !printable(text) {
			return nil, false
		}
		x = x.merge(xforward{{name, value}})
	}
	return x, x != nil
}

// merge puts values over earlier ones.
func (x xforward) merge(over xforward) xforward {
	for _, a := range over {
		if i := slices.IndexFunc(x, func(b attribute) bool { return b.name == a.name }); i >= 0 {
			x[i] = a
		} else {
			x = append(x, a)
		}
	}
	return x
}

// get returns a value, decoded; "" where there is none.
func (x xforward) get(name string) string {
	for _, a := range x {
		if a.name == name && !strings.EqualFold(a.value, unavailable) {
			return xtext(a.value)
		}
	}
	return ""
}

// describe puts the original client in the place of the peer. An attribute that was not told is unknown: the peer's
// own must not stand in for it.
func (x xforward) describe(env *filter.Envelope) {
	if x == nil {
		return
	}
	env.ClientAddr, env.Helo, env.QueueID = "", x.get("HELO"), x.get("IDENT")
	text := x.get("ADDR")
	if len(text) > 5 && strings.EqualFold(text[:5], "IPv6:") {
		text = text[5:]
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		env.ClientAddr = addr.Unmap().String()
	}
}

// lines are the commands that pass x on to a next hop that takes the attributes offered.
func (x xforward) lines(verb string, offered []string) []string {
	var lines []string
	line := verb
	for _, a := range x {
		if !slices.Contains(offered, a.name) {
			continue
		}
		word := " " + a.name + "=" + a.value
		if len(line)+len(word)+2 > maxForwardLine {
			lines = append(lines, line)
			line = verb
		}
		line += word
	}
	if line == verb {
		return lines
	}
	return append(lines, line)
}

// xtext decodes RFC 3461 section 4's form, "+3D" for "=". What is none stays as it is: Postfix before 2.3 did not
// encode.
func xtext(s string) string {
	if !strings.Contains(s, "+") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '+' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// printable tells whether a value is ASCII without control characters.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
