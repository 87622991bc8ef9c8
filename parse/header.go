package parse

import (
	"bytes"
	"strings"
)

// A span is where a field stands: its name, its colon and, with its continuation lines and line end, its size.
type span struct{ name, colon, size int }

func (s span) value(b []byte) []byte { return bytes.TrimRight(b[s.colon+1:s.size], "\r\n") }

// nextField finds the field with which b begins: a name of printable ASCII, white space that old mailers put before the
// colon, the colon, and a value with its continuation lines (RFC 5322, 2.2 and 4.5). Where b begins with an empty or a
// malformed line, ok is false: there the body starts, as in Postfix.
func nextField(b []byte) (s span, ok bool) {
	for s.name < len(b) && b[s.name] > ' ' && b[s.name] < 0x7f && b[s.name] != ':' {
		s.name++
	}
	s.colon = s.name
	for s.colon < len(b) && (b[s.colon] == ' ' || b[s.colon] == '\t') {
		s.colon++
	}
	if s.name == 0 || s.colon == len(b) || b[s.colon] != ':' {
		return span{}, false
	}
	s.size = s.colon + 1
	for {
		i := bytes.IndexByte(b[s.size:], '\n')
		if i < 0 {
			s.size = len(b)
			return s, true
		}
		s.size += i + 1
		if s.size == len(b) || b[s.size] != ' ' && b[s.size] != '\t' {
			return s, true
		}
	}
}

// dropBlank removes the empty line that ends a header. ok is false where another line stands there.
func dropBlank(b []byte) (body []byte, ok bool) {
	rest := bytes.TrimLeft(b, "\r")
	if len(rest) > 0 && rest[0] == '\n' {
		return rest[1:], true
	}
	return b, len(b) == 0
}

// dropEnvelope removes a byte order mark and the "From " line of an mbox, or the ">From " that some gateways make of
// one. Such a line is text where no field follows it.
func dropEnvelope(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	if !bytes.HasPrefix(b, []byte("From ")) && !bytes.HasPrefix(b, []byte(">From ")) {
		return b
	}
	if _, ok := nextField(b); ok {
		return b // "From : a@example.org"
	}
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		if _, ok := nextField(b[i+1:]); ok {
			return b[i+1:]
		}
	}
	return b
}

// content is what a header says of the body below it. An empty string is a missing field.
type content struct {
	typ, encoding, disposition string

	twice bool // one of them is given twice; the first counts
	mail  bool // there is a field that mail has, and plain text with colons in it has not
}

// add takes note of a field.
func (c *content) add(name, value []byte, limit int) {
	var buf [32]byte
	lower := buf[:copy(buf[:], name)]
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] |= 0x20
		}
	}
	var p *string
	switch string(lower) {
	case "content-type":
		p = &c.typ
	case "content-transfer-encoding":
		p = &c.encoding
	case "content-disposition":
		p = &c.disposition
	default:
		c.mail = c.mail || isMailField(string(lower))
		return
	}
	c.mail = true
	if *p != "" {
		c.twice = true
		return
	}
	*p = unfold(string(value[:min(len(value), limit)]))
}

// isMailField reports whether a field, in lower case, is one that messages have. "Note:" and "http:" are not.
func isMailField(lower string) bool {
	switch lower {
	case "from", "to", "cc", "subject", "date", "received", "return-path", "message-id", "mime-version", "sender",
		"reply-to", "delivered-to", "envelope-to", "references", "in-reply-to", "status", "newsgroups", "path":
		return true
	}
	for _, p := range []string{"x-", "content-", "resent-", "list-", "arc-", "dkim-", "received-", "authentication-"} {
		if strings.HasPrefix(lower, p) {
			return true
		}
	}
	return false
}

// A header is what was found at the head of a message or a part.
type header struct {
	content
	fields int // within the limit
	kept   int // octets of these fields
	end    int // octets of all fields
}

// readHeader walks over the header of b. Of the fields that end beyond limit octets only those are read that say how to
// read the body, so that filler cannot hide the text.
func readHeader(b []byte, limit int) (h header) {
	for {
		s, ok := nextField(b[h.end:])
		if !ok {
			return h
		}
		field := b[h.end:]
		h.add(field[:s.name], s.value(field), limit)
		if h.end += s.size; h.end <= limit {
			h.fields, h.kept = h.fields+1, h.end
		}
	}
}

// partHeader reads the header of a part, or of a message within the message. Fields above an empty line are one, whatever their
// names: mail programs show none of them.
func (p *parser) partHeader(b []byte, where string) (c content, body []byte) {
	h := readHeader(b, p.limits.HeaderBytes)
	if _, ok := dropBlank(b[h.end:]); ok && h.end < len(b) {
		h.mail = true
	}
	return p.headerEnd(b, h, where)
}

// topHeader reads the header of the message, and its Fields.
func (p *parser) topHeader(b []byte) (c content, body []byte) {
	h := readHeader(b, p.limits.HeaderBytes)
	if h.mail {
		p.m.Fields = make([]Field, 0, h.fields)
		text := string(b[:h.kept])
		for at := 0; at < h.kept; {
			s, _ := nextField(b[at:h.kept])
			p.m.Fields = append(p.m.Fields, Field{
				Name:  text[at : at+s.name],
				Value: strings.TrimRight(text[at+s.colon+1:at+s.size], "\r\n"),
			})
			at += s.size
		}
	}
	return p.headerEnd(b, h, "")
}

// headerEnd returns the body below a header of b and lists what is wrong with the header. Where no field is one of
// mail, there is no header, but text whose lines look like fields.
func (p *parser) headerEnd(b []byte, h header, where string) (c content, body []byte) {
	if !h.mail && h.end > 0 {
		p.defect(where, defectNoHeader)
		return content{}, b
	}
	if h.kept < h.end {
		p.defect(where, defectHeaderSize)
	}
	if h.twice {
		p.defect(where, defectTwice)
	}
	body, ok := dropBlank(b[h.end:])
	if !ok {
		p.defect(where, defectHeader)
	}
	return h.content, body
}

// unfold turns the line breaks of a folded value into nothing: the white space that follows them stays.
func unfold(v string) string {
	v = strings.TrimSpace(v)
	if !strings.ContainsAny(v, "\r\n") {
		return v
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(v)
}
