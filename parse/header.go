package parse

import (
	"bytes"
	"strings"
)

// nextField splits the first field off b: a name of printable ASCII, white space that old mailers put before the
// colon, the colon, and a value with its continuation lines (RFC 5322, 2.2 and 4.5). Where b does not begin with a
// field, ok is false: an empty line or a malformed one, which starts the body, as in Postfix.
func nextField(b []byte) (name, value, rest []byte, ok bool) {
	n := 0
	for n < len(b) && b[n] > ' ' && b[n] < 0x7f && b[n] != ':' {
		n++
	}
	colon := n
	for colon < len(b) && (b[colon] == ' ' || b[colon] == '\t') {
		colon++
	}
	if n == 0 || colon == len(b) || b[colon] != ':' {
		return nil, nil, b, false
	}
	end := colon + 1
	for {
		i := bytes.IndexByte(b[end:], '\n')
		if i < 0 {
			end = len(b)
			break
		}
		end += i + 1
		if end == len(b) || b[end] != ' ' && b[end] != '\t' {
			break
		}
	}
	return b[:n], bytes.TrimRight(b[colon+1:end], "\r\n"), b[end:], true
}

// dropBlank removes the empty line that ends a header. ok is false where another line stands there.
func dropBlank(b []byte) (body []byte, ok bool) {
	rest := bytes.TrimLeft(b, "\r")
	if len(rest) > 0 && rest[0] == '\n' {
		return rest[1:], true
	}
	return b, len(b) == 0
}

// dropEnvelope removes the "From " line of an mbox, and the ">From " that some gateways leave of one.
func dropEnvelope(b []byte) []byte {
	for bytes.HasPrefix(b, []byte("From ")) || bytes.HasPrefix(b, []byte(">From ")) {
		if _, _, _, ok := nextField(b); ok {
			return b // "From : a@example.org"
		}
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return b
		}
		b = b[i+1:]
	}
	return b
}

// content is what a header says of the body below it. An empty string is a missing field.
type content struct {
	typ, encoding, disposition string
}

// add takes note of a field that describes the body. The first of several fields counts; twice is true for others.
func (c *content) add(name, value []byte, limit int) (twice bool) {
	if len(name) < len("Content-Type") || name[0]|0x20 != 'c' {
		return false
	}
	var p *string
	switch strings.ToLower(string(name[:min(len(name), 32)])) {
	case "content-type":
		p = &c.typ
	case "content-transfer-encoding":
		p = &c.encoding
	case "content-disposition":
		p = &c.disposition
	default:
		return false
	}
	if *p != "" {
		return true
	}
	*p = unfold(string(value[:min(len(value), limit)]))
	return false
}

// partHeader reads the header of a part. Most parts have two or three fields; none is kept but those that say how
// to read the body.
func (p *parser) partHeader(b []byte, where string) (c content, body []byte) {
	rest := b
	for {
		name, value, next, ok := nextField(rest)
		if !ok {
			break
		}
		if c.add(name, value, p.limits.HeaderBytes) {
			p.defect(where, defectTwice)
		}
		rest = next
	}
	body, ok := dropBlank(rest)
	if !ok {
		p.defect(where, defectHeader)
	}
	return c, body
}

// topHeader reads the header of the message into its Fields. Beyond Limits.HeaderBytes only what says how to read
// the body is kept, so that filler cannot hide the text.
func (p *parser) topHeader(b []byte) (c content, body []byte) {
	rest, kept := b, 0
	for {
		name, value, next, ok := nextField(rest)
		if !ok {
			break
		}
		if c.add(name, value, p.limits.HeaderBytes) {
			p.defect("", defectTwice)
		}
		if len(b)-len(next) <= p.limits.HeaderBytes {
			kept = len(b) - len(next)
			p.m.Fields = append(p.m.Fields, Field{Name: string(name), Value: string(value)})
		}
		rest = next
	}
	if kept < len(b)-len(rest) {
		p.defect("", defectHeaderSize)
	}
	body, ok := dropBlank(rest)
	if !ok {
		p.defect("", defectHeader)
	}
	return c, body
}

// unfold turns the line breaks of a folded value into nothing: the white space that follows them stays.
func unfold(v string) string {
	v = strings.TrimSpace(v)
	if !strings.ContainsAny(v, "\r\n") {
		return v
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(v)
}
