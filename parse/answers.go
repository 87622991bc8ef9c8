package parse

import (
	"strings"
	"unicode"
)

// longestMark is how many letters the word has that mail programs put before the subject of an answer or of what they pass on,
// which they word in the language of their user: "Re", "Fwd", "AW", "Antwort", "Doorsturen", "回复".
const longestMark = 10

// An answer is how a message says that it answers another one or passes it on.
type answer int

const (
	noAnswer  answer = iota
	bySubject        // by a word with a colon before its subject, behind the name of a list in brackets or not
	byFields         // by In-Reply-To or References (RFC 5322, section 3.6.4), which mail programs write
)

func answers(m *Message) answer {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, "In-Reply-To") || strings.EqualFold(f.Name, "References") {
			return byFields
		}
	}
	s := m.Subject
	for strings.HasPrefix(s, "[") {
		_, behind, ok := strings.Cut(s, "]")
		if !ok {
			return noAnswer
		}
		s = strings.TrimSpace(behind)
	}
	if marks(s) {
		return bySubject
	}
	return noAnswer
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
