package parse

import (
	"bytes"
	"slices"
	"strings"
)

// isText reports whether a leaf is read as text: everything but what has a binary top-level type, or is a file.
func isText(typ, disposition string) bool {
	major, _, _ := strings.Cut(typ, "/")
	switch major {
	case "application", "image", "audio", "video", "font", "model", "chemical", "x-world":
		return typ == "application/xhtml+xml" || typ == "application/pgp" // text in armour, before RFC 2015
	}
	how, _ := parseParams(disposition)
	return how != "attachment"
}

// isCalendar reports whether a leaf that is a file is a calendar object: Google encloses one beside each invitation.
func isCalendar(typ, name string) bool {
	return typ == "application/ics" || typ == "application/octet-stream" && strings.HasSuffix(strings.ToLower(name), ".ics")
}

// A file is a leaf of type text that is an attachment, of that index in Message.Attachments.
type file struct {
	entity
	typ   string
	index int
}

// attachment keeps a leaf that is not read as text, and reads what was put into its own signature.
func (p *parser) attachment(e entity, typ string) reading {
	data, flaw := decodeTransfer(e.body, e.encoding, false, p.data)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	p.data -= len(data)
	name := e.fileName()
	if isSigned(typ, name) {
		if content, ok := signedContent(data); ok {
			if len(content) > 0 && p.isEntity(content, name) {
				return p.opaque(e, content)
			}
			data = content
		}
	}
	if strings.HasPrefix(typ, "text/") {
		p.files = append(p.files, file{e, typ, len(p.m.Attachments)})
	}
	how, _ := parseParams(e.disposition)
	inline := strings.HasPrefix(typ, "image/") && how != "attachment"
	p.m.Attachments = append(p.m.Attachments, Attachment{Type: typ, Name: name, Data: data, Inline: inline})
	return reading{}
}

// fileName returns the name that a header gives the body, "" for none.
func (c content) fileName() string {
	_, ps := parseParams(c.disposition)
	if name := ps.get("filename"); name != "" {
		return name
	}
	_, ps = parseParams(c.typ)
	return ps.get("name")
}

// readFiles reads the attachments of type text as text, in a message that has no other.
func (p *parser) readFiles() (r reading) {
	for i, f := range p.files {
		p.m.Attachments = slices.Delete(p.m.Attachments, f.index-i, f.index-i+1)
		r.add(p.textLeaf(f.entity, f.typ))
	}
	return r
}

// textLeaf reads a leaf as text.
func (p *parser) textLeaf(e entity, typ string) reading {
	raw, flaw := decodeTransfer(e.body, e.encoding, true, p.text)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	_, ps := parseParams(e.typ)
	charset := ps.raw("charset")
	if charset == "" && isHTML(typ) {
		charset = metaCharset(raw)
	}
	text, flaw := decodeCharset(raw, charset, p.hint)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	p.text = max(p.text-len(text), 0)
	text = lineFeeds(text)
	if typ == "text/calendar" {
		text = calendarText(text)
	}
	declared := e.typ != "" && typ == mediaType(e.typ)
	if typ == "text/rfc822-headers" { // of a message that a report is about (RFC 6522, section 4)
		return reading{texts: []leafText{{blocks: []Block{{Head, text}}}}}
	}
	if isReport(typ) {
		return reading{texts: []leafText{{blocks: []Block{{Footer, text}}}}}
	}
	if isHTML(typ) || !declared && looksHTML(text) {
		var l leafText
		l.blocks, l.hidden, l.links = htmlText(text, answers(p.m) != noAnswer)
		return reading{[]leafText{l}, rankOf(typ, rich)}
	}
	if strings.TrimSpace(text) == "" {
		return reading{}
	}
	return reading{[]leafText{{plain: text}}, rankOf(typ, simple)}
}

// rankOf returns the rank of a text, which is at most most: only those types are shown by all.
func rankOf(typ string, most rank) rank {
	switch typ {
	case "text/html", "application/xhtml+xml", "text/plain", "text/enriched", "text/richtext":
		return most
	}
	return other
}

// metaCharset returns the charset that HTML declares in its first 1,024 octets, "" for none.
func metaCharset(b []byte) string {
	b = bytes.ToLower(b[:min(len(b), 1024)])
	i := bytes.Index(b, []byte("<meta"))
	if i < 0 {
		return ""
	}
	if _, b, ok := bytes.Cut(b[i:], []byte("charset=")); ok {
		b = bytes.TrimLeft(b, " \"'")
		if end := bytes.IndexAny(b, " \"'/>;"); end > 0 {
			return string(b[:end])
		}
	}
	return ""
}

// lineFeeds turns CRLF and CR into LF.
func lineFeeds(s string) string {
	i := strings.IndexByte(s, '\r')
	if i < 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for ; i >= 0; i = strings.IndexByte(s, '\r') {
		out.WriteString(s[:i])
		out.WriteByte('\n')
		s = strings.TrimPrefix(s[i+1:], "\n")
	}
	out.WriteString(s)
	return out.String()
}

func isHTML(typ string) bool {
	switch typ {
	case "text/html", "text/xhtml", "text/x-amp-html", "application/xhtml+xml":
		return true
	}
	return false
}

// looksHTML reports whether a text that is not declared HTML begins like it.
func looksHTML(s string) bool {
	b := bytes.ToLower([]byte(strings.TrimSpace(s[:min(len(s), 200)])))
	return bytes.HasPrefix(b, []byte("<html")) || bytes.HasPrefix(b, []byte("<!doctype html"))
}

// isReport reports whether a leaf is fields for programs, of which those who show mail show little: what became of a
// message (RFC 3464, RFC 6533), whether it was read (RFC 8098), that somebody complained (RFC 5965).
func isReport(typ string) bool {
	switch typ {
	case "message/delivery-status", "message/global-delivery-status", "message/disposition-notification",
		"message/global-disposition-notification", "message/feedback-report":
		return true
	}
	return false
}
