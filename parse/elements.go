package parse

import (
	"bytes"

	"golang.org/x/net/html"
)

// A tag is the name of an element. Those that are not listed share the numbers from firstOther on.
type tag uint8

// The tags that are asked for by name.
const (
	tagP tag = iota
	tagLi
	tagUl
	tagOl
	tagTd
	tagTh
	tagTr
	tagTable
	tagStyle
	tagFont
	tagBlockquote
	tagA
	tagButton
	tagDd
	tagDt
	tagSelect
	tagOption
	tagNoscript
	firstListed
	anyTag     tag = 127 // of a selector without one
	firstOther tag = 128
)

// A role is what an element does to the text around it.
type role uint16

const (
	breaks  role = 1 << iota // begins and ends a line
	gaps                     // stands apart from what precedes it
	void                     // has no content
	dead                     // its content is never shown
	pre                      // keeps white space
	ends                     // its start closes an open paragraph
	rows                     // holds rows, cells and the like; what else is put into it stands before the table
	inRows                   // may stand there
	control                  // has a font and colours of its own
	heading                  // its start closes one that is open just around it
	whole                    // shows its text whatever size it is given
	bare                     // is passed over or ends early in ways that are not followed here: it hides nothing
)

// ofTable tells whether an element is a part of a table.
func (r role) ofTable() bool { return r&inRows != 0 && r&(dead|void|ends) == 0 }

// elements are the elements of HTML by what they do (HTML Living Standard, sections 13.1.2,
// 13.2.6.4.7 and 15.3).
var elements = []struct {
	role  role
	names []string
}{
	{whole, []string{"html"}},
	{0, []string{"a", "abbr", "acronym", "applet", "audio", "b", "bdi", "bdo", "big", "canvas", "cite", "code", "data", "del",
		"dfn", "em", "i", "ins", "kbd", "label", "map", "marquee", "meter", "noscript", "object", "picture", "q", "s", "samp",
		"slot", "small", "span", "strike", "strong", "sub", "sup", "svg", "math", "time", "tt", "u", "var", "video", "o:p", "font"}},
	{breaks | void, []string{"br"}},
	{breaks | void | ends, []string{"hr"}},
	{void | inRows, []string{"col", "input"}},
	{bare, []string{"head", "frameset", "nobr", "optgroup", "rb", "rt", "rtc", "rp"}},
	{void, []string{"wbr", "img", "image", "meta", "link", "base", "basefont", "bgsound", "area", "embed", "frame", "keygen", "param", "source",
		"track"}},
	{dead | inRows, []string{"script", "style", "template"}},
	{dead, []string{"title", "iframe", "noframes", "noembed"}},
	{control, []string{"button", "select", "mark"}},
	{gaps, []string{"option"}},
	{gaps | inRows, []string{"td", "th"}},
	{pre | gaps | control, []string{"textarea"}},
	{rows | inRows, []string{"tbody", "tfoot", "thead"}},
	{inRows, []string{"colgroup"}},
	{breaks | ends | inRows, []string{"form"}},
	{breaks | rows | inRows, []string{"tr"}},
	{breaks | rows, []string{"table"}},
	{breaks | inRows, []string{"caption"}},
	{breaks | whole, []string{"body", "legend"}},
	{breaks | ends | whole, []string{"fieldset"}},
	{breaks | ends | heading, []string{"h1", "h2", "h3", "h4", "h5", "h6"}},
	{breaks | ends, []string{"p", "div", "blockquote", "center", "li", "ul", "ol", "dl", "dt", "dd", "address",
		"article", "aside", "details", "dir", "figure", "footer", "header", "main", "menu", "nav", "section", "summary",
		"figcaption", "hgroup", "search"}},
	{breaks | ends | pre, []string{"pre", "listing", "plaintext", "xmp"}},
}

var tags, roles = func() (map[string]tag, [256]role) {
	m := map[string]tag{"p": tagP, "li": tagLi, "ul": tagUl, "ol": tagOl, "td": tagTd, "th": tagTh, "tr": tagTr, "table": tagTable,
		"style": tagStyle, "font": tagFont, "blockquote": tagBlockquote,
		"a": tagA, "button": tagButton, "dd": tagDd, "dt": tagDt, "select": tagSelect, "option": tagOption, "noscript": tagNoscript}
	var r [256]role
	next := firstListed
	for _, e := range elements {
		for _, name := range e.names {
			if _, ok := m[name]; !ok {
				m[name] = next
				next++
			}
			r[m[name]] = e.role
		}
	}
	return m, r
}()

// maxTagName is more than any tag that is listed has, in octets.
const maxTagName = 16

// tagIn is the tag of the start or end tag that was just read. The tokenizer copies a name twice, and most are short: they are
// read from what it read.
func tagIn(z *html.Tokenizer) tag {
	var short [maxTagName]byte
	raw := bytes.TrimPrefix(z.Raw()[1:], []byte("/"))
	for i, c := range raw[:min(len(raw), maxTagName)] {
		if c == 0 {
			break // it becomes U+FFFD
		}
		switch {
		case c == '>' || c == '/' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f':
			return tagOf(short[:i])
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		}
		short[i] = c
	}
	name, _ := z.TagName()
	return tagOf(name)
}

func tagOf(name []byte) tag {
	if t, ok := tags[string(name)]; ok {
		return t
	}
	h := uint8(0)
	for _, c := range name {
		h = h*31 + c
	}
	return firstOther | tag(h)
}
