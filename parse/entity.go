package parse

import (
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
	texts []leafText
	rank  rank // of the best of them
}

// A rank says how gladly mail programs show a text among alternatives.
type rank uint8

const (
	other  rank = iota // of a type that few show: AMP, RTF, text/watch-html
	simple             // plain text
	rich               // HTML
)

// A leafText is the text of one leaf. Plain text is cut into blocks last, when it is known which alternatives are read.
type leafText struct {
	plain  string // "" for HTML
	blocks []Block
	hidden string
	links  []string
}

func (r *reading) add(o reading) {
	r.texts = append(r.texts, o.texts...)
	r.rank = max(r.rank, o.rank)
}

// words reports whether there is a letter or digit to read.
func (r *reading) words() bool {
	isWord := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }
	for _, l := range r.texts {
		if strings.ContainsFunc(l.plain, isWord) {
			return true
		}
		for _, b := range l.blocks {
			if strings.ContainsFunc(b.Text, isWord) {
				return true
			}
		}
	}
	return false
}

// into puts what was read into a message.
func (r *reading) into(m *Message) {
	var hidden []string
	for _, l := range r.texts {
		if l.plain != "" {
			l.blocks, l.links = cutBlocks(l.plain), plainLinks(l.plain)
		}
		m.Blocks = append(m.Blocks, l.blocks...)
		m.Links = append(m.Links, l.links...)
		if l.hidden != "" {
			hidden = append(hidden, l.hidden)
		}
	}
	m.Blocks = settleKinds(m.Blocks, answers(m))
	m.Hidden = strings.Join(hidden, "\n")
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
	case isCalendar(typ, e.fileName()):
		return p.textLeaf(e, "text/calendar")
	}
	return p.attachment(e, typ)
}

// inner reads a message within the message.
func (p *parser) inner(e entity) reading {
	p.decodeCompound(&e)
	c, body := p.partHeader(dropEnvelope(e.body), e.where)
	return p.entity(entity{content: c, body: body, where: e.where, depth: e.depth + 1})
}

// multipart reads the parts of a multipart. One that has none is text. Parts behind its end are not shown, and count where there
// are no words before it: some software closes too early.
func (p *parser) multipart(e entity, typ string) reading {
	parts, before := p.cut(&e)
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
		least = min(least, p.text)
		if typ == "multipart/alternative" {
			p.text = budget // a decoy must not use up what the part that is shown needs
		}
	}
	p.text = least
	r := together(all[:before], typ)
	if !r.words() && before < len(all) {
		r = together(all, typ)
	}
	return r
}

// together is what is read of the parts of a multipart.
func together(all []reading, typ string) (r reading) {
	if typ == "multipart/alternative" && len(all) > 0 {
		return choose(all)
	}
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
	if h := readHeader(e.body, p.limits.HeaderBytes); h.typ != "" && e.depth < p.limits.Depth {
		return p.part(e.body, entity{where: e.where, depth: e.depth + 1})
	}
	return p.textLeaf(e, "text/plain")
}

// cut returns the parts of a multipart, by the declared boundary, in the body as it stands or decoded, else by a boundary
// that is guessed. before is how many of them come before the end.
func (p *parser) cut(e *entity) (parts [][]byte, before int) {
	_, ps := parseParams(e.typ)
	left := max(p.limits.Parts-p.parts, 0)
	boundary := ps.raw("boundary")
	parts, before, flaw := splitParts(e.body, boundary, left)
	if len(parts) == 0 && p.decodeCompound(e) {
		parts, before, flaw = splitParts(e.body, boundary, left)
	}
	if len(parts) == 0 {
		p.defect(e.where, defectBoundary)
		parts, before, flaw = splitParts(e.body, guessBoundary(e.body), left)
	}
	if len(parts) > 0 && flaw != "" {
		p.defect(e.where, flaw)
	}
	return parts, before
}

// decodeCompound undoes the encoding of a multipart or a message, which RFC 2045, section 6.4 forbids and some software
// uses. What it decodes counts as attachments do, so that encodings within encodings add up to one limit.
func (p *parser) decodeCompound(e *entity) bool {
	name := encodingName(e.encoding)
	if name != "base64" && name != "quoted-printable" {
		return false
	}
	p.defect(e.where, defectEncoded)
	if len(e.body) > p.data {
		p.defect(e.where, defectDecoded)
		return false
	}
	e.body, _ = decodeTransfer(e.body, name, true, p.data)
	e.encoding = ""
	p.data -= len(e.body)
	return true
}

// choose picks the one alternative that people see: the last HTML that has words, as mail clients do, so that a decoy
// in plain text hides nothing; else the last plain text that has words, else the last of another type.
func choose(all []reading) reading {
	best := -1
	for i := range all {
		if all[i].words() && (best < 0 || all[i].rank >= all[best].rank) {
			best = i
		}
	}
	if best < 0 {
		best = len(all) - 1
	}
	return all[best]
}
