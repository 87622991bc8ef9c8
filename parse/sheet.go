package parse

import "strings"

// A selector is a tag, a class (mark '.') or id ('#'), or both.
type selector struct {
	tag  tag
	mark byte // 0 for neither
	name string
}

// maxRules bounds the selectors of the style elements that are remembered. Beyond them styles hide nothing: one that shows a text
// could be among those forgotten.
const maxRules = 5000

// sheet reads a style element: the rules for a tag, a class or an id. Of rules that have other selectors, or stand within @media
// and the like and so hold on some screens only, it takes what shows: no reader is shown less than what is read.
func (w *walker) sheet(css string, some bool) {
	if w.rules == nil {
		w.rules = make(map[selector]style)
	}
	within := 0 // the groups of rules that one is in
	for css = uncomment(css); css != "" && !w.reveal; {
		at := indexCSS(css, "{};")
		head := strings.TrimSpace(css[:at])
		mark := css[at:min(at+1, len(css))]
		css = css[min(at+1, len(css)):]
		switch {
		case mark == "}":
			within = max(within-1, 0)
		case mark != "{":
		case strings.HasPrefix(head, "@"):
			if word, screens, _ := strings.Cut(head, " "); within > 0 || !strings.EqualFold(word, "@media") || !everyScreen(screens) {
				within++
			}
		default:
			at = indexCSS(css, "{}")
			if strings.HasPrefix(css[at:], "{") { // a rule within this one, or its end is missing: programs differ
				w.reveal = true
				return
			}
			w.rule(head, css[:at], some || within > 0)
			css = css[min(at+1, len(css)):]
		}
	}
}

// everyScreen tells whether the rules for such media hold wherever mail is read.
func everyScreen(media string) bool {
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "", "all", "screen", "only screen":
		return true
	}
	return false
}

// rule keeps a rule.
func (w *walker) rule(selectors, body string, some bool) {
	s := declarations(body, w.place)
	w.place += uint32(strings.Count(body, ";")) + 1
	if s == (style{}) {
		return
	}
	for selectors != "" {
		at := indexCSS(selectors, ",")
		sel, weight, sure := readSelector(selectors[:at])
		selectors = selectors[min(at+1, len(selectors)):]
		if len(w.rules) == maxRules {
			w.reveal = true
			return
		}
		r := w.rules[sel]
		s := s.weighing(weight, some || !sure)
		r.merge(&s)
		w.rules[sel] = r
	}
}

// weighing returns s with the weight of a selector. Where it holds for some readers only it returns what shows.
func (s style) weighing(weight uint32, some bool) style {
	for p := range s {
		switch {
		case s[p].weight == 0:
		case !some || s[p].value == shows:
			s[p].weight += weight
		case s[p].value == inherits || s[p].value == boxed || p == cssColor || p == cssGround: // what is around it may be seen
			s[p] = declaration{shows, s[p].weight + weight}
		default:
			s[p] = declaration{}
		}
	}
	return s
}

// readSelector reads a selector. Of one that is more than a tag with a class or id it takes what its last element may be, with all
// the weight that a selector can have, and is not sure.
func readSelector(s string) (sel selector, weight uint32, sure bool) {
	s = strings.TrimSpace(s)
	last := unbracketed(s)
	last = last[strings.LastIndexAny(last, " \t\n\r\f>+~")+1:]
	last, _, _ = strings.Cut(last, ":")
	sure = last == s
	words := strings.FieldsFunc(last, func(r rune) bool { return r == '.' || r == '#' })
	sel.tag = anyTag
	if last != "" && last[0] != '.' && last[0] != '#' {
		if name := strings.ToLower(words[0]); name != "*" {
			sel.tag = tagOf([]byte(name))
			sure = sure && sel.tag < firstOther // others share numbers
			weight += byTag
		}
		last, words = last[len(words[0]):], words[1:]
	}
	if len(words) > 0 {
		sel.mark, sel.name = last[0], unescape(words[0])
		if weight += byClass; sel.mark == '#' {
			weight += byID - byClass
		}
	}
	if !sure || len(words) > 1 {
		return sel, byElement - byTag, false
	}
	return sel, weight, true
}

// unbracketed returns s without what stands in brackets.
func unbracketed(s string) string {
	if !strings.ContainsAny(s, "([") {
		return s
	}
	var b strings.Builder
	depth := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth = max(depth-1, 0)
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
