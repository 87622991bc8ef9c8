package parse

import (
	"bytes"
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
	parts := p.cut(e)
	if len(parts) == 0 {
		p.defect(e.where, defectNoParts)
		return p.textLeaf(e, "text/plain")
	}
	var all []reading
	budget := p.text
	least := budget
	for i, raw := range parts {
		where := partNumber(e.where, i)
		if p.parts >= p.limits.Parts {
			p.defect(where, defectParts)
			all = append(all, p.textLeaf(entity{body: raw, where: where}, "text/plain"))
			continue
		}
		c, body := p.partHeader(raw, where)
		all = append(all, p.entity(entity{content: c, body: body, where: where, depth: e.depth + 1,
			digest: typ == "multipart/digest"}))
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

// cut returns the parts of a multipart's body, by the declared boundary, or by one that is guessed, in the body as it
// stands or decoded.
func (p *parser) cut(e entity) [][]byte {
	_, ps := parseParams(e.typ)
	left := max(p.limits.Parts-p.parts, 0)
	if b := ps.get("boundary"); b != "" {
		if parts, closed := splitParts(e.body, b, left); len(parts) > 0 {
			if !closed {
				p.defect(e.where, defectUnclosed)
			}
			return parts
		}
	}
	p.defect(e.where, defectBoundary)
	if b := guessBoundary(e.body); b != "" {
		parts, _ := splitParts(e.body, b, left)
		return parts
	}
	if name := encodingName(e.encoding); name == "base64" || name == "quoted-printable" {
		body, _ := decodeTransfer(e.body, name, true, p.text)
		e.encoding = ""
		e.body = body
		if b := guessBoundary(body); b != "" {
			parts, _ := splitParts(body, b, left)
			return parts
		}
	}
	return nil
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

// isText reports whether a leaf is read as text. Everything is but what has a binary top-level type, or is a file.
func isText(typ, disposition string) bool {
	major, _, _ := strings.Cut(typ, "/")
	switch major {
	case "application", "image", "audio", "video", "font", "model", "chemical", "x-world":
		return false
	}
	how, ps := parseParams(disposition)
	if how != "attachment" {
		return true
	}
	return ps.get("filename") == "" && typ != "text/calendar" && typ != "text/csv"
}

// attachment keeps a leaf that is not read as text.
func (p *parser) attachment(e entity, typ string) {
	_, ps := parseParams(e.disposition)
	name := ps.get("filename")
	if name == "" {
		_, ps = parseParams(e.typ)
		name = ps.get("name")
	}
	data, flaw := decodeTransfer(e.body, e.encoding, false, p.data)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	p.data -= len(data)
	p.m.Attachments = append(p.m.Attachments, Attachment{Type: typ, Name: name, Data: data})
}

// textLeaf reads a leaf as text.
func (p *parser) textLeaf(e entity, typ string) reading {
	raw, flaw := decodeTransfer(e.body, e.encoding, true, p.text)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	_, ps := parseParams(e.typ)
	text, flaw := decodeCharset(raw, ps.get("charset"), p.hint)
	if flaw != "" {
		p.defect(e.where, flaw)
	}
	p.text = max(p.text-len(text), 0)
	text = lineFeeds(text)
	if typ == "text/html" || typ != "text/plain" && looksHTML(text) || e.typ == "" && looksHTML(text) {
		r := reading{html: true}
		r.blocks, r.hidden, r.links = htmlText(text)
		return r
	}
	if strings.TrimSpace(text) == "" {
		return reading{}
	}
	return reading{blocks: cutBlocks(text), links: plainLinks(text)}
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
