package parse

import (
	"slices"
	"strconv"
	"strings"
)

// declarations reads the declarations of a style attribute or a rule, which weigh as much as is said, and each one more than the
// one before. What is no value of a property is passed over, as it is by those who show mail; what may be one and is not known
// here shows the text.
func declarations(css string, weight uint32) (s style) {
	for css = uncomment(css); css != ""; weight++ {
		end := indexCSS(css, ";")
		d := css[:end]
		css = css[min(end+1, len(css)):]
		k, v, ok := strings.Cut(d, ":")
		if !ok {
			continue
		}
		v, mark, _ := strings.Cut(cssWord(v), "!")
		heavy := weight
		if strings.TrimSpace(mark) == "important" {
			heavy |= important
		}
		s.declare(cssWord(k), strings.TrimSpace(v), heavy)
	}
	return s
}

// declare takes up one declaration.
func (s *style) declare(k, v string, weight uint32) {
	property, value := -1, int32(-1)
	switch k {
	case "display":
		property, value = cssDisplay, displayed(v)
	case "opacity":
		property, value = cssOpacity, opaque(v)
	case "visibility":
		property, value = cssVisibility, visible(v)
	case "font-size":
		property, value = cssFontSize, sized(v)
	case "color":
		property, value = cssColor, colour(v)
	case "background-color":
		property, value = cssGround, ground(v)
	case "background-image":
		property, value = cssImage, pictured(v)
	case "background":
		s.set(cssGround, ground(v), weight)
		property, value = cssImage, pictured(v)
	case "font":
		property, value = cssFontSize, fontSized(v)
	case "text-shadow", "-webkit-text-stroke", "-webkit-text-fill-color", "background-clip", "-webkit-background-clip":
		property, value = cssPaint, painted(v)
	case "box-shadow":
		if strings.Contains(v, "inset") { // lies upon the background
			property, value = cssImage, shows
		}
	case "overflow", "overflow-x", "overflow-y":
		property, value = cssOverflow, overflowing(v)
	case "width", "max-width":
		property, value = cssWidth, room(strings.TrimSuffix(v, "%"))
	case "height", "max-height": // a percentage is of a height that is seldom known
		property, value = cssHeight, room(v)
	case "padding", "padding-top", "padding-right", "padding-bottom", "padding-left", "min-width", "min-height":
		if property = cssRoom; strings.ContainsAny(v, "123456789(") {
			value = shows
		}
	case "position":
		if property = cssPlace; v == "absolute" || v == "fixed" {
			value = shows
		}
	case "all":
		s.reset(v, weight)
	}
	if value >= 0 {
		s.set(property, value, weight)
	}
}

// reset sets all properties at once.
func (s *style) reset(v string, weight uint32) {
	if !slices.Contains([]string{"initial", "inherit", "unset", "revert", "revert-layer"}, v) {
		return
	}
	for p := range s {
		value := int32(shows)
		switch p {
		case cssVisibility, cssFontSize, cssColor:
			if v == "inherit" || v == "unset" {
				value = inherits
			}
		case cssPaint:
			continue
		}
		s.set(p, value, weight)
	}
}

// painted tells whether letters are seen though their colour is not: by their shadow or outline, or the picture behind them.
// What says that one of these does nothing leaves the others as they are.
func painted(v string) int32 {
	switch v {
	case "none", "0", "transparent", "inherit", "initial", "unset", "border-box", "padding-box", "content-box":
		return -1
	}
	return shows
}

// overflowing tells whether an element hides what does not fit into it.
func overflowing(v string) int32 {
	if hasAny(v, []string{"hidden", "clip", "auto", "scroll"}) && !strings.Contains(v, "visible") {
		return hides
	}
	return shows
}

// room tells whether a width or height hides every line: of up to two pixels one sees nothing.
func room(v string) int32 {
	n := strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz ")
	f, err := strconv.ParseFloat(n, 64)
	unit := strings.TrimSpace(v[len(n):])
	if err == nil && (f == 0 || f > 0 && f <= 2 && (unit == "" || unit == "px" || unit == "pt")) {
		return hides
	}
	return shows
}

// boxes are parts of all values of display that show an element.
var boxes = []string{"block", "inline", "table", "flex", "grid", "list-item", "contents", "flow", "ruby", "run-in", "box", "math",
	"inherit", "initial", "unset", "revert", "("}

func displayed(v string) int32 {
	switch {
	case v == "none":
		return hides
	case v == "block", v == "inline-block", v == "flow-root", v == "flex", v == "grid", v == "list-item":
		return boxed
	case hasAny(v, boxes):
		return shows
	}
	return -1
}

func opaque(v string) int32 {
	n := strings.TrimSuffix(v, "%")
	f, err := strconv.ParseFloat(n, 64)
	switch {
	case err != nil && !strings.Contains(v, "("):
		return -1
	case err != nil || f > 5 || n == v && f > 0.05:
		return shows
	}
	return hides
}

func visible(v string) int32 {
	switch {
	case v == "hidden", v == "collapse":
		return hides
	case v == "inherit", v == "unset":
		return inherits
	case v == "visible", v == "initial", strings.HasPrefix(v, "revert"), strings.Contains(v, "("):
		return shows
	}
	return -1
}

// sized reads a font size. At most a pixel or point is tiny; a size relative to the one around it makes that tiny or leaves it
// as it is.
func sized(v string) int32 {
	n := strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz% ")
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return sizeWord(v)
	}
	if f < 0 {
		return -1
	}
	tiny, other := 0.01, int32(shows) // of an inch, which is nearly a pixel: no other unit is longer
	switch strings.TrimSpace(v[len(n):]) {
	case "", "px", "pt":
		tiny = 1
	case "em", "ex", "ch":
		tiny, other = 0.1, inherits
	case "%":
		tiny, other = 10, inherits
	case "rem":
		tiny = 0.1
	}
	if f <= tiny {
		return hides
	}
	return other
}

// fontSized reads the size in a font: the one word of it that may be none but a weight.
func fontSized(v string) int32 {
	for _, f := range strings.Fields(v) {
		f, _, _ = strings.Cut(f, "/")
		weighs := f != "0" && strings.Trim(f, "0123456789.") == ""
		if n := sized(f); n >= 0 && !weighs && f != "small-caps" {
			return n
		}
	}
	if hasAny(v, []string{"caption", "icon", "menu", "message-box", "status-bar"}) { // fonts of the system
		return shows
	}
	return -1
}

func sizeWord(v string) int32 {
	switch {
	case v == "inherit", v == "smaller", v == "larger", v == "unset":
		return inherits
	case hasAny(v, []string{"small", "medium", "large", "initial", "revert", "math", "("}):
		return shows
	}
	return -1
}

// ground reads the colour in a background.
func ground(v string) int32 {
	if v == "none" {
		return inherits
	}
	c := colour(v)
	if c == shows {
		first, _, _ := strings.Cut(v, " ")
		c = colour(first)
	}
	if c == hides {
		return inherits
	}
	return c
}

// pictured tells whether a background has a picture.
func pictured(v string) int32 {
	if i := strings.IndexByte(v, '('); i >= 0 && !strings.HasPrefix(v, "rgb") || strings.LastIndexByte(v, '(') != i {
		return shows
	}
	return hides
}

// indexCSS finds the first of the stops that stands in no string, escape or bracket; len(s) where there is none.
func indexCSS(s, stops string) int {
	quote, depth := byte(0), 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case (c == ')' || c == ']') && depth > 0:
			depth--
		case depth == 0 && strings.IndexByte(stops, c) >= 0:
			return i
		}
	}
	return len(s)
}

// uncomment puts a space for each comment, and removes the marks that hide CSS from old browsers.
func uncomment(css string) string {
	if strings.Contains(css, "<!--") || strings.Contains(css, "-->") {
		css = strings.ReplaceAll(strings.ReplaceAll(css, "<!--", ""), "-->", "")
	}
	if !strings.Contains(css, "/*") {
		return css
	}
	var b strings.Builder
	for css != "" {
		n := indexCSS(css, "/")
		b.WriteString(css[:n])
		css = css[n:]
		if rest, ok := strings.CutPrefix(css, "/*"); ok {
			_, css, _ = strings.Cut(rest, "*/")
			b.WriteByte(' ')
		} else if css != "" {
			b.WriteByte('/')
			css = css[1:]
		}
	}
	return b.String()
}

// cssWord is a word as it is compared: without escapes (CSS Syntax, section 4.3.7) and white space around it, in lower case.
func cssWord(s string) string {
	return strings.ToLower(strings.TrimSpace(unescape(s)))
}

// unescape undoes the escapes of CSS.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		code, n := rune(0), 0
		for n < 6 && i+1 < len(s) && unhex(s[i+1]) >= 0 {
			code = code<<4 | rune(unhex(s[i+1]))
			n, i = n+1, i+1
		}
		switch {
		case n > 0:
			b.WriteRune(code)
			if i+1 < len(s) && space(s[i+1]) {
				i++
			}
		case i+1 < len(s):
			i++
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
