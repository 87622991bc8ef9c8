package parse

import "strings"

// sheet takes from a style element the rules that hide one class or id. Rules inside @media and the
// like hold on some screens only and are passed over; at most maxMemo are kept.
func (w *walker) sheet(css string) {
	if w.rules == nil {
		w.rules = make(map[string]style)
	}
	for css = uncomment(css); css != "" && len(w.rules) < maxMemo; {
		head, rest, ok := strings.Cut(css, "{")
		if !ok {
			return
		}
		head = head[strings.LastIndexByte(head, ';')+1:] // an @import or @charset before it
		if strings.Contains(head, "@") {
			css = skipBlock(rest)
			continue
		}
		var body string
		body, css, _ = strings.Cut(rest, "}")
		if s := declarations(body); s.none || s.blank || s.tiny {
			w.rule(head, s)
		}
	}
}

// rule keeps a rule for those of its selectors that are one class or id.
func (w *walker) rule(selectors string, s style) {
	for _, sel := range strings.Split(selectors, ",") {
		if sel = strings.TrimSpace(sel); strings.ContainsAny(sel, " >+~:[*") || len(sel) > 64 {
			continue
		}
		if i := strings.IndexAny(sel, ".#"); i >= 0 {
			w.rules[sel[i:]] = s
		}
	}
}

// uncomment removes the comments of CSS, and the marks that hide CSS from old browsers.
func uncomment(css string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(css, "/*")
		b.WriteString(before)
		if !ok {
			return strings.ReplaceAll(strings.ReplaceAll(b.String(), "<!--", ""), "-->", "")
		}
		_, css, _ = strings.Cut(rest, "*/")
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
