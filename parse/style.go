package parse

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// A look is what of an element's style decides whether its text is seen.
type look struct {
	none   bool // display:none, opacity:0, mso-hide: no inner element can undo it
	blank  bool // visibility:hidden, which an inner element can undo
	tiny   bool // a font of at most one pixel, likewise
	front  int  // colour of the text, 0 where not known
	ground int  // colour behind it, 0 where not known
}

func (l look) unseen() bool {
	return l.none || l.blank || l.tiny || l.ground != 0 && near(l.front, l.ground)
}

// A style is a list of declarations, as far as they decide what is seen.
type style struct {
	look
	sets uint8 // which of blank, tiny, front and ground it declares
}

const (
	setsBlank = 1 << iota
	setsTiny
	setsFront
	setsGround
)

// apply puts the declarations of s over what was inherited or declared before.
func (l *look) apply(s style) {
	l.none = l.none || s.none
	if s.sets&setsBlank != 0 {
		l.blank = s.blank
	}
	if s.sets&setsTiny != 0 {
		l.tiny = s.tiny
	}
	if s.sets&setsFront != 0 {
		l.front = s.front
	}
	if s.sets&setsGround != 0 {
		l.ground = s.ground
	}
}

// maxMemo bounds the rules of style elements, and the style attributes that are remembered.
const maxMemo = 1000

// attributes reads what matters of the attributes of a start tag into e. A style attribute is
// stronger than the others wherever it stands.
func (w *walker) attributes(z *html.Tokenizer, e *element) {
	var own style
	for n, more := 0, true; more && n < 64; n++ {
		var k, v []byte
		k, v, more = z.TagAttr() // of a tag without any the key is empty
		switch string(k) {
		case "style":
			own = w.style(v)
		case "hidden":
			e.none = true
		case "class":
			w.named('.', string(v), e)
		case "id":
			w.named('#', string(v), e)
		case "type":
			if e.tag == tagBlockquote && string(v) == "cite" {
				e.quote = quoted
			}
		case "href":
			w.link(string(v))
		case "bgcolor":
			e.ground = colour(string(v))
		case "background":
			e.ground = 0
		case "color", "text":
			e.front = colour(string(v))
		case "size":
			if e.tag == tagFont {
				e.tiny = strings.TrimSpace(string(v)) == "0"
			}
		}
	}
	e.apply(own)
}

func (w *walker) style(v []byte) style {
	s, ok := w.memo[string(v)]
	if !ok {
		s = declarations(string(v))
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

// named applies the rules of the style elements for the classes or the id in v, and tells quotes by
// the names that mail programs give them. At most 16 names are looked at.
func (w *walker) named(mark byte, v string, e *element) {
	for n := 0; v != "" && n < 16; n++ {
		var name string
		name, v, _ = strings.Cut(v, " ")
		switch name {
		case "gmail_quote", "gmail_attr", "moz-cite-prefix", "yahoo_quoted", "protonmail_quote", "OutlookMessageHeader", "divRplyFwdMsg":
			e.quote = quoted
		}
		if len(w.rules) > 0 {
			e.apply(w.rules[string(mark)+name])
		}
	}
}

// declarations reads the declarations of a style attribute or rule, the important ones last.
func declarations(css string) (s style) {
	gone := false
	for _, important := range [...]bool{false, true} {
		for rest := css; rest != ""; {
			var d string
			d, rest, _ = strings.Cut(rest, ";")
			k, v, ok := strings.Cut(d, ":")
			if !ok {
				continue
			}
			v, _, strong := strings.Cut(strings.ToLower(v), "!")
			k, v = strings.ToLower(strings.TrimSpace(k)), strings.TrimSpace(v)
			switch {
			case strong != important:
			case k == "display":
				gone = v == "none"
			default:
				s.declare(k, v)
			}
		}
		if !strings.Contains(css, "!") {
			break
		}
	}
	s.none = s.none || gone
	return s
}

// declare takes up one declaration other than display.
func (s *style) declare(k, v string) {
	switch k {
	case "mso-hide":
		s.none = s.none || v == "all"
	case "opacity":
		f, err := strconv.ParseFloat(v, 64)
		s.none = s.none || err == nil && f <= 0.05
	case "visibility":
		s.blank, s.sets = v == "hidden" || v == "collapse", s.sets|setsBlank
	case "font-size":
		s.size(v)
	case "font":
		for _, f := range strings.Fields(v) {
			f, _, _ = strings.Cut(f, "/")
			weight := f != "0" && strings.Trim(f, "0123456789.") == ""
			if f != "" && f[0] >= '0' && f[0] <= '9' && !weight {
				s.size(f)
			}
		}
	case "color":
		s.front, s.sets = colour(v), s.sets|setsFront
	case "background-color", "background":
		s.ground, s.sets = colour(v), s.sets|setsGround
	}
}

// size takes up a font size. At most a pixel or point is tiny; a size relative to the one around it
// makes that tiny or leaves it as it is.
func (s *style) size(v string) {
	n := strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz% ")
	f, err := strconv.ParseFloat(n, 64)
	tiny := err == nil && f <= 1
	switch strings.TrimSpace(v[len(n):]) {
	case "em", "ex", "ch":
		if tiny = f <= 0.1; !tiny {
			return
		}
	case "%":
		if tiny = f <= 10; !tiny {
			return
		}
	case "rem":
		tiny = f <= 0.1
	case "inherit", "smaller", "larger":
		return
	}
	s.tiny, s.sets = tiny, s.sets|setsTiny
}
