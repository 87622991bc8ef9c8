package parse

import (
	"strings"
	"unicode"
)

// longestMark is how many letters the word has that mail programs put before the subject of an answer or of what they pass on,
// which they word in the language of their user: "Re", "Fwd", "AW", "Antwort", "Doorsturen", "回复".
const longestMark = 10

// answers tells whether a message says that it answers another one or passes it on: by the fields of RFC 5322 section 3.6.4, or
// by a word with a colon before its subject, behind the name of a list in brackets or not.
func answers(m *Message) bool {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, "In-Reply-To") || strings.EqualFold(f.Name, "References") {
			return true
		}
	}
	s := m.Subject
	for strings.HasPrefix(s, "[") {
		_, behind, ok := strings.Cut(s, "]")
		if !ok {
			return false
		}
		s = strings.TrimSpace(behind)
	}
	return marks(s)
}

// marks tells whether a subject begins with such a word, "Re:", "Re[2]:" or "Re :".
func marks(subject string) bool {
	end := strings.IndexAny(subject, ":：")
	if end < 0 {
		return false
	}
	letters := 0
	for _, c := range strings.TrimSpace(subject[:end]) {
		switch {
		case unicode.IsLetter(c) || unicode.IsMark(c):
			letters++
		case !unicode.IsDigit(c) && !strings.ContainsRune("[]()^", c):
			return false
		}
	}
	return letters > 0 && letters <= longestMark
}
