package parse

import (
	"slices"
	"strconv"
	"strings"
)

// params are the parameters of a Content-Type or Content-Disposition field, names in lower case, in order.
type params []struct{ name, value string }

// parseParams reads `type; name=value; name="value"` and its common deformations: no semicolon, several, white space
// about the equals sign, comments, an unquoted value with spaces, a quote that never closes. Of several hundred the
// first hundred are read.
func parseParams(v string) (first string, ps params) {
	v = dropComments(v)
	i := strings.IndexAny(v, "; \t")
	if i < 0 {
		return strings.ToLower(strings.Trim(v, "\"'")), nil
	}
	first = strings.ToLower(strings.Trim(v[:i], "\"'"))
	v = v[i:]
	for len(ps) < 100 {
		v = strings.TrimLeft(v, "; \t,")
		eq := strings.IndexAny(v, "=;")
		if eq < 0 {
			break
		}
		if v[eq] == ';' {
			v = v[eq:]
			continue
		}
		name := strings.ToLower(strings.TrimSpace(v[:eq]))
		var value string
		value, v = paramValue(strings.TrimLeft(v[eq+1:], " \t"))
		ps = append(ps, struct{ name, value string }{name, value})
	}
	return first, ps
}

// paramValue splits a value off v. An unquoted one ends at a semicolon: file names with spaces are common.
func paramValue(v string) (value, rest string) {
	if !strings.HasPrefix(v, `"`) {
		i := strings.IndexByte(v, ';')
		if i < 0 {
			i = len(v)
		}
		return strings.Trim(v[:i], " \t\"'"), v[i:]
	}
	var b strings.Builder
	for i := 1; i < len(v); i++ {
		switch {
		case v[i] == '"':
			return b.String(), v[i+1:]
		case v[i] == '\\' && i+1 < len(v) && (v[i+1] == '"' || v[i+1] == '\\'):
			i++
		}
		b.WriteByte(v[i])
	}
	return b.String(), ""
}

// dropComments removes RFC 822 comments outside quotes. A parenthesis that never closes is kept.
func dropComments(v string) string {
	if !strings.Contains(v, "(") || !strings.Contains(v, ")") {
		return v
	}
	var b strings.Builder
	depth, quoted, last := 0, false, strings.LastIndexByte(v, ')')
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case quoted && c == '\\' && i+1 < len(v):
			b.WriteByte(c)
			i++
			c = v[i]
		case c == '"' && depth == 0:
			quoted = !quoted
		case c == '(' && !quoted && i < last:
			depth++
			continue
		case c == ')' && !quoted && depth > 0:
			depth--
			continue
		}
		if depth == 0 {
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// raw returns a parameter's value as it stands, the first of several; get's where there is no plain one.
func (ps params) raw(name string) string {
	for _, p := range ps {
		if p.name == name {
			return p.value
		}
	}
	return ps.get(name)
}

// A piece is a parameter's value or, with RFC 2231, a stretch of it.
type piece struct {
	number  int
	encoded bool
	value   string
}

// plainForm is the number of a value that is not in pieces: it stands beside them for readers that do not know them.
const plainForm = 1 << 30

// get returns a parameter's value with RFC 2231 continuations joined and its characters decoded; encoded words
// (RFC 2047), which are not allowed here and common, too.
func (ps params) get(name string) string {
	pieces := ps.pieces(name)
	if len(pieces) == 0 {
		return ""
	}
	if pieces[0].number == plainForm {
		return decodeWords(pieces[0].value, "")
	}
	var raw []byte
	charset := ""
	for i, p := range pieces {
		if p.number == plainForm || i > 0 && p.number == pieces[i-1].number {
			continue
		}
		if !p.encoded {
			raw = append(raw, p.value...)
			continue
		}
		if parts := strings.SplitN(p.value, "'", 3); i == 0 && len(parts) == 3 {
			charset, p.value = parts[0], parts[2]
		}
		raw = appendPercent(raw, p.value)
	}
	text, _ := decodeCharset(raw, charset, "")
	return text
}

// pieces returns the values of the parameters name, name*, name*0, name*0* and so on, by number.
func (ps params) pieces(name string) (pieces []piece) {
	for _, p := range ps {
		tail, ok := strings.CutPrefix(p.name, name)
		if !ok || tail != "" && tail[0] != '*' {
			continue
		}
		number, encoded := strings.CutSuffix(tail, "*")
		n, err := strconv.Atoi(strings.TrimPrefix(number, "*"))
		switch {
		case tail == "":
			n = plainForm
		case number == "":
			n = 0
		case err != nil:
			continue
		}
		pieces = append(pieces, piece{n, encoded, p.value})
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.number - b.number })
	return pieces
}

// appendPercent appends s with %XX decoded.
func appendPercent(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				dst = append(dst, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
}
