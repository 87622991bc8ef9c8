package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// What can be wrong with a message.
const (
	defectNoHeader   = "no header"
	defectHeader     = "no empty line between header and body"
	defectHeaderSize = "header over the limit"
	defectLines      = "lines end in CR"
	defectSubject    = "octets over 127 in the subject"
	defectTwice      = "content field given twice"
	defectEncoding   = "unknown transfer encoding"
	defectEncoded    = "multipart or message encoded"
	defectDecoded    = "text over the limit"
	defectQP         = "bad quoted-printable"
	defectBase64     = "bad base64"
	defectNotBase64  = "plain text declared base64"
	defectCharset    = "unknown charset"
	defectBadCharset = "text not in its charset"
	defectEightBit   = "octets over 127 without a charset"
	defectBoundary   = "multipart without its boundary"
	defectNoParts    = "multipart without parts"
	defectUnclosed   = "multipart without its end"
	defectAfterEnd   = "multipart goes on after its end"
	defectParts      = "parts over the limit"
	defectDepth      = "nesting over the limit"
	defectType       = "malformed media type"
	defectPanic      = "parser failed, raw text taken"
)

// A parser holds what is left of the limits of one message.
type parser struct {
	m      *Message
	limits Limits
	text   int    // octets of text that may still be decoded
	data   int    // octets of attachments likewise: a budget of their own, so that they cannot crowd out the text
	parts  int    // entities met
	files  []file // attachments of type text
	hint   string // charset that the header's encoded words use, for text that declares none
}

// Parse reads a message. Any bytes are one: lines may end in CRLF, LF or CR, an mbox "From " line may come first, there
// may be no header. What is wrong is listed in Defects and read as well as it can be; text that fits no rule is
// Body. The result shares memory with raw only in Attachments.
func Parse(raw []byte, l Limits) (m *Message) {
	p := &parser{m: &Message{}, limits: l.or()}
	p.text, p.data = p.limits.DecodedBytes, p.limits.DecodedBytes
	defer func() {
		if recover() != nil {
			m = asText(raw, p.limits.DecodedBytes)
		}
	}()
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') >= 0 {
		p.defect("", defectLines)
		raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
	}
	p.message(dropEnvelope(raw))
	return p.m
}

// asText is what is left to say of a message after an error of our own: up to limit octets of it are text.
func asText(raw []byte, limit int) *Message {
	text, _ := decodeUTF8(raw[:min(len(raw), limit)], "", "")
	return &Message{Type: "text/plain", Blocks: []Block{{Body, text}}, Defects: []Defect{{What: defectPanic}}}
}

func (p *parser) defect(where, what string) {
	p.m.Defects = append(p.m.Defects, Defect{where, what})
}

// message reads the whole message into p.m.
func (p *parser) message(raw []byte) {
	c, body := p.topHeader(raw)
	p.topFields()
	p.m.Type = mediaType(c.typ)
	r := p.entity(entity{content: c, body: body})
	if !r.words() && len(p.files) > 0 {
		r.add(p.readFiles())
	}
	r.into(p.m)
}

// topFields reads the fields that Message has a place for, the first of each.
func (p *parser) topFields() {
	var subject, from, id bool
	var people []string
	for _, f := range p.m.Fields {
		switch {
		case !subject && strings.EqualFold(f.Name, "Subject"):
			subject = true
			v := unfold(f.Value)
			if p.hint = wordCharset(v); !utf8.ValidString(v) {
				p.defect("", defectSubject)
			}
			p.m.Subject = strings.Join(strings.Fields(decodeWords(v, "")), " ")
		case strings.EqualFold(f.Name, "From"):
			if !from {
				p.m.From = firstAddress(unfold(f.Value))
			}
			from = true
			people = append(people, named(f.Value))
		case strings.EqualFold(f.Name, "To"), strings.EqualFold(f.Name, "Reply-To"):
			people = append(people, named(f.Value))
		case !id && strings.EqualFold(f.Name, "Message-ID"):
			id = true
			p.m.MessageID = messageID(unfold(f.Value))
		}
	}
	p.m.People = strings.Join(people[:min(len(people), maxPeople)], " ")
}

// Of the fields that name people so many count, and so many octets of each: whom a letter speaks of is named at its beginning.
const (
	maxPeople = 4
	maxNamed  = 256
)

// named is the beginning of the value of a field that names people.
func named(v string) string {
	return decodeWords(unfold(v[:min(len(v), maxNamed)]), "")
}
