package parse

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A look is what of an element's style decides whether its text is seen.
type look struct {
	gone   bool  // display:none or opacity:0: no inner element can undo it
	cut    bool  // in a box without room that hides what overflows it: an inner element can leave it
	blank  bool  // visibility:hidden, which an inner element can undo
	tiny   bool  // a font of at most one pixel, likewise
	inked  bool  // what else than the colour shows the letters
	front  int32 // colour of the text, as colour says
	ground int32 // colour behind it, likewise
}

func (l look) unseen() bool {
	return l.gone || l.cut || l.blank || l.tiny || !l.inked && (l.front == hides || near(l.front, l.ground))
}

// The properties that decide what is seen.
const (
	cssDisplay = iota
	cssOpacity
	cssVisibility
	cssFontSize
	cssColor
	cssGround // the colour behind the text
	cssImage  // a picture there, which may have any colour
	cssPaint  // what draws the letters in place of their colour
	cssOverflow
	cssWidth
	cssHeight
	cssRoom  // what makes room beside width and height
	cssPlace // what takes an element out of those around it
	cssCount
)

// What a value of a property does to the text. A colour that is known is over these.
const (
	shows    = iota // or may show it
	hides           // of a colour: transparent
	inherits        // as the element around it
	boxed           // of display: shows it in a box that may have a size of its own
)

// A declaration gives a property a value. The heaviest one holds (CSS Cascading and Inheritance, section 6), of two of the same
// weight the later.
type declaration struct {
	value  int32
	weight uint32 // 0 where the property is not declared
}

// A weight is where a declaration stands; for rules there is added what each word of the selector weighs and, in the lower 24
// bits, the place in the style sheets.
const (
	byHint    = 1 // an attribute such as bgcolor, or the element itself
	byTag     = 1 << 24
	byClass   = 2 << 24
	byID      = 4 << 24
	byElement = 0x40 << 24 // a style attribute
	important = 0x80 << 24
)

// A style is a list of declarations, as far as they decide what is seen.
type style [cssCount]declaration

func (s *style) set(property int, value int32, weight uint32) {
	if weight >= s[property].weight {
		s[property] = declaration{value, weight}
	}
}

// merge adds the declarations of t.
func (s *style) merge(t *style) {
	for p, d := range t {
		if d.weight > 0 {
			s.set(p, d.value, d.weight)
		}
	}
}

// apply puts the style of an element of that role over what was inherited.
func (l *look) apply(s *style, role role) {
	declared := func(p int) bool { return s[p].weight > 0 && s[p].value != inherits }
	l.gone = l.gone || s[cssDisplay].value == hides || s[cssOpacity].value == hides
	if declared(cssPlace) {
		l.cut = false
	}
	l.cut = l.cut || s.roomless(role)
	if declared(cssVisibility) {
		l.blank = s[cssVisibility].value == hides
	}
	if declared(cssFontSize) {
		l.tiny = s[cssFontSize].value == hides
	}
	if declared(cssColor) {
		l.front = s[cssColor].value
	}
	if declared(cssGround) {
		l.ground = s[cssGround].value
	}
	l.inked = l.inked || declared(cssPaint)
	if declared(cssImage) && s[cssImage].value == shows {
		l.ground = 0
	}
}

// roomless tells whether an element of that role is a box without room for a line of text that hides what does not fit.
func (s *style) roomless(role role) bool {
	box := s[cssDisplay]
	return (box.value == boxed || box.weight == 0 && role&ends != 0) && role&(whole|rows|inRows) == 0 &&
		s[cssOverflow].value == hides && s[cssRoom].weight == 0 && (s[cssWidth].value == hides || s[cssHeight].value == hides)
}

// maxMemo bounds the style attributes that are remembered.
const maxMemo = 1000

// maxAttributes is how many attributes of a tag are read. With more of them it is not known how an element looks.
const maxAttributes = 64

// attributes reads what matters of an element and the attributes of its start tag into e. Of two with one name the first counts
// (HTML Living Standard, section 13.2.5.33).
func (w *walker) attributes(z *html.Tokenizer, e *element, role role) {
	var s style
	if role&control != 0 {
		for _, p := range [...]int{cssFontSize, cssColor, cssGround} {
			s.set(p, shows, byHint)
		}
	}
	w.ruled(&s, e.tag, 0, "")
	w.keys = w.keys[:0]
	more := true
	for more && len(w.keys) < maxAttributes {
		var k, v []byte
		k, v, more = z.TagAttr() // of a tag without any the key is empty
		if slices.ContainsFunc(w.keys, func(seen []byte) bool { return bytes.Equal(seen, k) }) {
			k = nil
		}
		w.keys = append(w.keys, k)
		switch string(k) {
		case "style":
			own := w.style(v)
			s.merge(&own)
		case "class":
			w.named('.', string(v), e, &s)
		case "id":
			w.named('#', string(v), e, &s)
		case "type":
			if e.tag == tagBlockquote && string(v) == "cite" {
				e.quote = quoted
			}
			e.sheet.off = e.sheet.off || e.tag == tagStyle && len(v) > 0 && !strings.EqualFold(string(v), "text/css")
		case "media":
			e.sheet.some = e.tag == tagStyle && !everyScreen(string(v))
		case "href":
			w.link(string(v))
			if e.tag == tagA {
				s.set(cssColor, shows, byHint) // links have a colour of their own
			}
		case "size", "multiple":
			e.list = e.tag == tagSelect && string(v) != "1"
			fallthrough
		default:
			hint(&s, string(k), string(v), e.tag)
		}
	}
	if !more && role&bare == 0 {
		e.apply(&s, role)
	}
}

// hint reads an attribute that says what a style could (HTML Living Standard, section 15).
func hint(s *style, key, v string, t tag) {
	switch key {
	case "hidden":
		s.set(cssDisplay, hides, byHint)
	case "bgcolor":
		s.set(cssGround, ground(v), byHint)
	case "background":
		s.set(cssImage, shows, byHint)
	case "color", "text":
		s.set(cssColor, colour(v), byHint)
	case "size":
		if t == tagFont {
			s.set(cssFontSize, shows, byHint) // the smallest, which 0 is taken for, has ten pixels
		}
	}
}

func (w *walker) style(v []byte) style {
	s, ok := w.memo[string(v)]
	if !ok {
		s = declarations(string(v), byElement)
		if w.memo == nil {
			w.memo = make(map[string]style)
		}
		if len(w.memo) < maxMemo && len(v) < 4096 {
			w.memo[string(v)] = s
		}
	}
	return s
}

func (w *walker) link(s string) {
	s = strings.TrimSpace(s)
	if len(s) > 8 && len(s) < 4096 && (prefixFold(s, "http://") || prefixFold(s, "https://")) {
		w.links = append(w.links, s)
	}
}

func prefixFold(s, p string) bool {
	return len(s) >= len(p) && s[0]|0x20 == p[0]|0x20 && strings.EqualFold(s[:len(p)], p)
}

// named adds the rules of the style elements for the classes or the id in v to s, and tells quotes by the names that mail
// programs give them.
func (w *walker) named(mark byte, v string, e *element, s *style) {
	for v != "" {
		end := strings.IndexAny(v, " \t\n\r\f")
		if end < 0 {
			end = len(v)
		}
		name := v[:end]
		v = v[min(end+1, len(v)):]
		switch name {
		case "gmail_quote", "gmail_attr", "moz-cite-prefix", "yahoo_quoted", "protonmail_quote", "OutlookMessageHeader":
			e.quote = quoted
		case "divRplyFwdMsg": // of Outlook on the web: the header of what is quoted, which follows without an element of its own
			e.quote, w.passed = quoted, w.answer
		}
		w.ruled(s, e.tag, mark, name)
	}
}

// ruled adds the rules for elements of a tag with such a class or id.
func (w *walker) ruled(s *style, t tag, mark byte, name string) {
	if len(w.rules) == 0 {
		return
	}
	for _, t := range [...]tag{anyTag, t} {
		if r, ok := w.rules[selector{t, mark, name}]; ok {
			s.merge(&r)
		}
	}
}
