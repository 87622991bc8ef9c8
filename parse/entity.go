package parse

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// An entity is a message or a part of one.
type entity struct {
	content
	body   []byte
	where  string
	depth  int
	digest bool // in a multipart/digest, where a part is a message unless it says otherwise
}

// A reading is the text found in an entity.
type reading struct {
	blocks []Block
	hidden string
	links  []string
	html   bool
}

func (r *reading) add(o reading) {
	r.blocks = append(r.blocks, o.blocks...)
	r.links = append(r.links, o.links...)
	if r.hidden != "" && o.hidden != "" {
		r.hidden += "\n"
	}
	r.hidden += o.hidden
	r.html = r.html || o.html
}

// words reports whether there is a letter or digit to read.
func (r *reading) words() bool {
	for _, b := range r.blocks {
		if strings.IndexFunc(b.Text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }) >= 0 {
			return true
		}
	}
	return false
}

// mediaType returns the type of a Content-Type value, lower case; what is no type is text/plain (RFC 2045, 5.2).
func mediaType(v string) string {
	typ, _ := parseParams(v)
	if major, minor, ok := strings.Cut(typ, "/"); ok && major != "" && minor != "" {
		return typ
	}
	if typ == "html" {
		return "text/html"
	}
	return "text/plain"
}

// entity reads one entity and all below it.
func (p *parser) entity(e entity) reading {
	p.parts++
	typ := mediaType(e.typ)
	if e.digest && e.typ == "" {
		typ = "message/rfc822"
	}
	if e.typ != "" && !strings.Contains(e.typ, "/") {
		p.defect(e.where, defectType)
	}
	compound := strings.HasPrefix(typ, "multipart/") || typ == "message/rfc822" || typ == "message/global"
	switch {
	case compound && e.depth >= p.limits.Depth:
		p.defect(e.where, defectDepth)
		return p.textLeaf(e, "text/plain")
	case strings.HasPrefix(typ, "multipart/"):
		return p.multipart(e, typ)
	case compound:
		return p.inner(e)
	case isText(typ, e.disposition):
		return p.textLeaf(e, typ)
	}
	p.attachment(e, typ)
	return reading{}
}

// inner reads a message within the message, which may be encoded although it must not be (RFC 2046, 5.2.1).
func (p *parser) inner(e entity) reading {
	body := e.body
	if name := encodingName(e.encoding); name == "base64" || name == "quoted-printable" {
		var flaw string
		if body, flaw = decodeTransfer(body, name, true, p.text); flaw != "" {
			p.defect(e.where, flaw)
		}
	}
	c, body := p.partHeader(dropEnvelope(body), e.where)
	return p.entity(entity{content: c, body: body, where: e.where, depth: e.depth + 1})
}

// multipart reads the parts of a multipart. One that has none is text.
func (p *parser) multipart(e entity, typ string) reading {
	parts := p.cut(&e)
	if len(parts) == 0 {
		p.defect(e.where, defectNoParts)
		return p.unparted(e)
	}
	var all []reading
	budget := p.text
	least := budget
	for i, raw := range parts {
		all = append(all, p.part(raw, entity{
			where: partNumber(e.where, i), depth: e.depth + 1, digest: typ == "multipart/digest"}))
		if typ == "multipart/alternative" {
			least = min(least, p.text)
			p.text = budget // a decoy must not use up what the part that is shown needs
		}
	}
	if typ == "multipart/alternative" {
		p.text = least
		return choose(all)
	}
	var r reading
	for _, o := range all {
		r.add(o)
	}
	return r
}

// part reads one part of a multipart into e. Beyond the limit it is text as it stands.
func (p *parser) part(raw []byte, e entity) reading {
	if p.parts >= p.limits.Parts {
		p.defect(e.where, defectParts)
		e.body = raw
		return p.textLeaf(e, "text/plain")
	}
	e.content, e.body = p.partHeader(raw, e.where)
	return p.entity(e)
}

// unparted reads the body of a multipart that has no delimiter. Such a body may be a part without one.
func (p *parser) unparted(e entity) reading {
	if c, _, _ := readHeader(e.body, p.limits.HeaderBytes); c.typ != "" && e.depth < p.limits.Depth {
		return p.part(e.body, entity{where: e.where, depth: e.depth + 1})
	}
	return p.textLeaf(e, "text/plain")
}

// cut returns the parts of a multipart, by the declared boundary, else by one that is guessed. A body that is encoded,
// which RFC 2045, section 6.4 forbids, is decoded first.
func (p *parser) cut(e *entity) [][]byte {
	_, ps := parseParams(e.typ)
	left := max(p.limits.Parts-p.parts, 0)
	boundary := ps.raw("boundary")
	parts, closed := splitParts(e.body, boundary, left)
	if len(parts) == 0 {
		if name := encodingName(e.encoding); name == "base64" || name == "quoted-printable" {
			e.body, _ = decodeTransfer(e.body, name, true, p.text)
			e.encoding = ""
			parts, closed = splitParts(e.body, boundary, left)
		}
	}
	if len(parts) == 0 {
		p.defect(e.where, defectBoundary)
		parts, closed = splitParts(e.body, guessBoundary(e.body), left)
	}
	if len(parts) > 0 && !closed {
		p.defect(e.where, defectUnclosed)
	}
	return parts
}

// choose picks the one alternative that people see: the last HTML that has words, as mail clients do, so that a decoy
// in plain text hides nothing; else the last that has words.
func choose(all []reading) reading {
	best := -1
	for i := range all {
		if all[i].words() && (best < 0 || all[i].html || !all[best].html) {
			best = i
		}
	}
	if best < 0 {
		best = len(all) - 1
	}
	return all[best]
}

// isText reports whether a leaf is read as text: everything but what has a binary top-level type, or is a file.
func isText(typ, disposition string) bool {
	major, _, _ := strings.Cut(typ, "/")
	switch major {
	case "application", "image", "audio", "video", "font", "model", "chemical", "x-world":
		return typ == "application/pgp" // text with a signature or in armour, of the time before RFC 2015
	}
	how, ps := parseParams(disposition)
	return how != "attachment" || ps.get("filename") == "" && typ != "text/calendar" && typ != "text/csv"
}

// A file is a leaf of type text that is an attachment, of that index in Message.Attachments.
type file struct {
	entity
	typ   string
	index int
}

// attachment keeps a leaf that is not read as text.
func (p *parser) attachment(e entity, typ string) {
	data, flaw := decodeTransfer(e.body, e.encoding, false, p.data)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	p.data -= len(data)
	if strings.HasPrefix(typ, "text/") {
		p.files = append(p.files, file{e, typ, len(p.m.Attachments)})
	}
	p.m.Attachments = append(p.m.Attachments, Attachment{Type: typ, Name: e.fileName(), Data: data})
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
	if charset == "" && typ == "text/html" {
		charset = metaCharset(raw)
	}
	text, flaw := decodeCharset(raw, charset, p.hint)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	p.text = max(p.text-len(text), 0)
	text = lineFeeds(text)
	if typ == "text/html" || typ != mediaType(e.typ) && looksHTML(text) || e.typ == "" && looksHTML(text) {
		r := reading{html: true}
		r.blocks, r.hidden, r.links = htmlText(text)
		return r
	}
	if strings.TrimSpace(text) == "" {
		return reading{}
	}
	return reading{blocks: cutBlocks(text), links: plainLinks(text)}
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
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

// looksHTML reports whether a text that is not declared HTML begins like it.
func looksHTML(s string) bool {
	b := bytes.ToLower([]byte(strings.TrimSpace(s[:min(len(s), 200)])))
	return bytes.HasPrefix(b, []byte("<html")) || bytes.HasPrefix(b, []byte("<!doctype html"))
}
