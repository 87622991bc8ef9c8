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

// attributes reads what matters of the attributes of a start tag into e.
func (w *walker) attributes(z *html.Tokenizer, more bool, e *element) {
	var style string
	for n := 0; more && n < 64; n++ {
		var k, v []byte
		k, v, more = z.TagAttr()
		switch string(k) {
		case "style":
			style = style + string(v) + ";"
		case "hidden":
			e.none = true
		case "class":
			w.named(".", string(v), e)
		case "id":
			w.named("#", string(v), e)
		case "type":
			if e.name == "blockquote" && string(v) == "cite" {
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
			if e.name == "font" {
				e.tiny = strings.TrimSpace(string(v)) == "0"
			}
		}
	}
	e.look.declare(style)
}

func (w *walker) link(s string) {
	s = strings.TrimSpace(s)
	if len(s) > 8 && len(s) < 4096 && (prefixFold(s, "http://") || prefixFold(s, "https://")) {
		w.links = append(w.links, s)
	}
}

func prefixFold(s, p string) bool { return len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) }

// named applies the rules of the style elements for the classes or the id in v, and tells quotes by
// the names that mail programs give them.
func (w *walker) named(mark, v string, e *element) {
	for i, name := range strings.Fields(v) {
		if i == 16 {
			return
		}
		switch name {
		case "gmail_quote", "gmail_attr", "moz-cite-prefix", "yahoo_quoted", "protonmail_quote", "OutlookMessageHeader", "divRplyFwdMsg":
			e.quote = quoted
		}
		if l, ok := w.rules[mark+name]; ok {
			e.none, e.blank, e.tiny = e.none || l.none, e.blank || l.blank, e.tiny || l.tiny
		}
	}
}

// declare applies the declarations of a style attribute.
func (l *look) declare(style string) {
	for style != "" {
		var d string
		d, style, _ = strings.Cut(style, ";")
		k, v, ok := strings.Cut(d, ":")
		if !ok {
			continue
		}
		v, _, _ = strings.Cut(strings.ToLower(v), "!")
		l.property(strings.ToLower(strings.TrimSpace(k)), strings.TrimSpace(v))
	}
}

// property applies one declaration.
func (l *look) property(k, v string) {
	switch k {
	case "display":
		l.none = l.none || v == "none"
	case "mso-hide":
		l.none = l.none || v == "all"
	case "opacity":
		f, err := strconv.ParseFloat(v, 64)
		l.none = l.none || err == nil && f <= 0.05
	case "visibility":
		l.blank = v == "hidden" || v == "collapse"
	case "font-size":
		l.tiny = tinySize(v)
	case "font":
		for _, f := range strings.Fields(v) {
			if f, _, _ = strings.Cut(f, "/"); f[:min(1, len(f))] >= "0" && f[:min(1, len(f))] <= "9" && strings.TrimLeft(f, "0123456789.") != "" {
				l.tiny = tinySize(f)
			}
		}
	case "color":
		l.front = colour(v)
	case "background-color", "background":
		l.ground = colour(v)
	}
}

// tinySize tells whether a font size cannot be read: at most a pixel or point, or next to nothing
// of the size around it.
func tinySize(v string) bool {
	n := strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz% ")
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return false
	}
	switch unit := strings.TrimSpace(v[len(n):]); unit {
	case "em", "rem", "ex", "ch":
		return f <= 0.1
	case "%":
		return f <= 10
	default:
		return f <= 1
	}
}

// colour reads a colour as 1<<24 | RGB, 0 where it is none that is known.
func colour(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	if c, ok := colours[s]; ok {
		return 1<<24 | c
	}
	if strings.HasPrefix(s, "rgb(") {
		return rgb(s[4:])
	}
	s = strings.TrimPrefix(s, "#")
	n, err := strconv.ParseUint(s, 16, 32)
	switch {
	case err != nil:
		return 0
	case len(s) == 3:
		return 1<<24 | int(n>>8*0x110000|n>>4&15*0x1100|n&15*0x11)
	case len(s) == 6:
		return 1<<24 | int(n)
	}
	return 0
}

func rgb(s string) int {
	s, _, _ = strings.Cut(s, ")")
	c := 1
	for _, f := range strings.SplitN(s, ",", 3) {
		n, err := strconv.ParseUint(strings.TrimSpace(f), 10, 8)
		if err != nil {
			return 0
		}
		c = c<<8 | int(n)
	}
	if c>>24 != 1 {
		return 0
	}
	return c
}

var colours = map[string]int{
	"white": 0xffffff, "black": 0, "red": 0xff0000, "blue": 0xff, "yellow": 0xffff00, "silver": 0xc0c0c0,
	"gray": 0x808080, "grey": 0x808080, "green": 0x8000, "navy": 0x80, "snow": 0xfffafa, "ivory": 0xfffff0,
	"whitesmoke": 0xf5f5f5, "ghostwhite": 0xf8f8ff,
}

// near tells whether two colours differ by less than an eye sees: at most 8 of 255 in each part.
func near(a, b int) bool {
	if a == 0 || b == 0 {
		return false
	}
	for s := 0; s < 24; s += 8 {
		if d := a>>s&255 - b>>s&255; d > 8 || d < -8 {
			return false
		}
	}
	return true
}

// sheet takes from a style element the rules that hide one class or id. Rules inside @media and the
// like hold on some screens only and are passed over; at most 1,000 rules are kept.
func (w *walker) sheet(css string) {
	for css != "" && len(w.rules) < 1000 {
		head, rest, ok := strings.Cut(css, "{")
		if !ok {
			return
		}
		if strings.Contains(head, "@") {
			css = skipBlock(rest)
			continue
		}
		var body string
		body, css, _ = strings.Cut(rest, "}")
		var l look
		if l.declare(body); !l.none && !l.blank && !l.tiny {
			continue
		}
		for _, sel := range strings.Split(head, ",") {
			if sel = strings.TrimSpace(sel); strings.ContainsAny(sel, " >+~:[*") || len(sel) > 64 {
				continue
			}
			if i := strings.IndexAny(sel, ".#"); i >= 0 {
				w.rules[sel[i:]] = l
			}
		}
	}
}

// skipBlock is what follows a block of braces whose opening brace precedes s.
func skipBlock(s string) string {
	for depth := 1; depth > 0; {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			return ""
		}
		if s[i] == '{' {
			depth++
		} else {
			depth--
		}
		s = s[i+1:]
	}
	return s
}
