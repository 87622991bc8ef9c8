package filter

import (
	"bytes"
	"strings"
)

// subjectName is the field that Judgement.Subject is put into.
const subjectName = "Subject"

// longestSubject is how long the first line of a Subject may get, in characters, before the prefix has a line of its own: a
// line with an encoded word is not to be longer (RFC 2047 section 2).
const longestSubject = 76

// Prefixed puts a prefix of ASCII before the value of a Subject field, which is what stands behind the colon, its folds ended
// by eol. The value itself stays as it is, encoded words and folds too; one that has the prefix already stays whole.
func Prefixed(value, prefix, eol string) string {
	rest := strings.TrimLeft(value, " \t")
	first, _, folded := strings.Cut(rest, "\n")
	first = strings.TrimSuffix(first, "\r")
	switch {
	case strings.HasPrefix(rest, prefix):
		return value
	case first == "" && folded: // the value begins on the next line
		return " " + prefix + rest
	case first == "":
		return " " + prefix
	case len(subjectName)+2+len(prefix)+1+len(first) > longestSubject:
		return " " + prefix + eol + " " + rest
	}
	return " " + prefix + " " + rest
}

// SubjectOf returns what stands behind the colon of a message's first Subject field, without the end of its last line, and
// whether there is one.
func SubjectOf(raw []byte) (value string, ok bool) {
	from, to := subjectAt(raw)
	return string(raw[from:to]), to > 0
}

// subjectAt finds the value of the first Subject field: to is 0 where there is none.
func subjectAt(raw []byte) (from, to int) {
	for at := 0; at < len(raw); {
		line := raw[at : at+lineLen(raw[at:])]
		folded := line[0] == ' ' || line[0] == '\t'
		switch {
		case to > 0 && !folded, at == 0 && folded:
			return from, to
		case to > 0:
			to = at + len(bytes.TrimRight(line, "\r\n"))
		case !folded:
			name := fieldName(bytes.TrimRight(line, "\r\n"))
			if name == "" {
				return 0, 0 // the header ends
			}
			if strings.EqualFold(name, subjectName) {
				from, to = at+bytes.IndexByte(line, ':')+1, at+len(bytes.TrimRight(line, "\r\n"))
			}
		}
		at += len(line)
	}
	return from, to
}

// lineLen is the length of the first line with its end.
func lineLen(raw []byte) int {
	if i := bytes.IndexByte(raw, '\n'); i >= 0 {
		return i + 1
	}
	return len(raw)
}

// prefixSubject returns a message whose Subject has the prefix, and the field that is to be added where it has no Subject.
func prefixSubject(raw []byte, prefix string) ([]byte, []Field) {
	from, to := subjectAt(raw)
	if to == 0 {
		return raw, []Field{{subjectName, " " + prefix}}
	}
	value := Prefixed(string(raw[from:to]), prefix, lineEnd(raw))
	out := make([]byte, 0, len(raw)+len(prefix)+8)
	out = append(append(out, raw[:from]...), value...)
	return append(out, raw[to:]...), nil
}
