package filter

import (
	"bytes"
	"strings"
)

// maxMessageID is how much of a Message-ID the log gets, in octets. They have some 60; a field may have megabytes.
const maxMessageID = 250

// MessageID returns the Message-ID of a message for the log, without angle brackets: what is not printable ASCII is "?", and what
// is too long is cut. It is "" where there is none.
func MessageID(raw []byte) string {
	for len(raw) > 0 && raw[0] != '\r' && raw[0] != '\n' {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		if !strings.EqualFold(fieldName(line), "Message-ID") {
			continue
		}
		_, value, _ := bytes.Cut(line, []byte(":"))
		for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') && len(bytes.TrimSpace(value)) == 0 { // folded before it begins
			value, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		value = bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(value), []byte("<")), []byte(">"))
		return strings.Map(func(c rune) rune {
			if c < ' ' || c > '~' {
				return '?'
			}
			return c
		}, string(value[:min(len(value), maxMessageID)]))
	}
	return ""
}
