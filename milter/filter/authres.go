package filter

import "strings"

// A result is one method's in an Authentication-Results field, cut into words: "dkim" "=" "pass" "header.d" "=" "example.com".
type result []word

// A word is a token or quoted string of RFC 8601 section 2.2, or where mark is set one of the separators ";" and "=". Text
// that merely looks like one within quotes or a comment, where a sender's own words stand, is none.
type word struct {
	text string
	mark bool
}

// readResults reads the value of an Authentication-Results field: who says so, and what of each method.
func readResults(value string) (host string, results []result) {
	words := cutWords(value)
	if len(words) == 0 || words[0].mark {
		return "", nil
	}
	for i, w := range words {
		switch {
		case w == word{";", true}:
			results = append(results, nil)
		case len(results) > 0: // else it is the host, or the version behind it
			results[len(results)-1] = append(results[len(results)-1], words[i])
		}
	}
	return words[0].text, results
}

// passed tells whether a result says that the signature of a domain is sound.
func (r result) passed(domain string) bool {
	if len(r) < 3 || r[1] != (word{"=", true}) || !strings.EqualFold(r[2].text, "pass") {
		return false
	}
	if method, _, _ := strings.Cut(r[0].text, "/"); !strings.EqualFold(method, "dkim") { // a version follows the stroke
		return false
	}
	for i := 3; i+2 < len(r); i++ {
		if strings.EqualFold(r[i].text, "header.d") && r[i+1] == (word{"=", true}) && strings.EqualFold(r[i+2].text, domain) {
			return true
		}
	}
	return false
}

// cutWords cuts a value at white space, separators and comments. Quotes within a comment are heeded too, although RFC 5322
// section 3.2.2 knows none there: a host that puts a sender's quoted address into a comment must not let it end the comment.
func cutWords(value string) (words []word) {
	var text []byte
	depth, quoted, begun := 0, false, false
	add := func(c ...byte) {
		if depth == 0 {
			text, begun = append(text, c...), true
		}
	}
	end := func() {
		if begun {
			words = append(words, word{text: string(text)})
		}
		text, begun = text[:0], false
	}
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == '\\' && (quoted || depth > 0) && i+1 < len(value): // the next one stands for itself
			i++
			add(value[i])
		case c == '"':
			quoted = !quoted
			add()
		case quoted:
			add(c)
		case c == '(':
			end()
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0:
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			end()
		case c == ';' || c == '=':
			end()
			words = append(words, word{string(c), true})
		default:
			add(c)
		}
	}
	end()
	return words
}
