package parse

import (
	"encoding/base64"
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
	byFields         // by In-Reply-To or References (RFC 5322, section 3.6.4), which mail programs write, or by Thread-Index
)

func answers(m *Message) answer {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, "In-Reply-To") || strings.EqualFold(f.Name, "References") ||
			strings.EqualFold(f.Name, "Thread-Index") && responds(strings.Join(strings.Fields(f.Value), "")) {
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

// responds tells whether a Thread-Index, which is all that some versions of Outlook and Exchange write, is one of an answer: behind
// the 22 octets that begin a conversation are five for each answer in it (MS-OXOMSG, section 2.2.1.3).
func responds(index string) bool {
	octets, err := base64.StdEncoding.DecodeString(index)
	return err == nil && len(octets) > 22 && (len(octets)-22)%5 == 0 && octets[0] == 1
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
