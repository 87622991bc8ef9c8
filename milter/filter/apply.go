package filter

import (
	"bytes"
	"slices"
	"strings"
)

// Apply returns the message with the judgement's fields on top, the stripped ones gone and its prefix in the Subject; nothing
// else is touched, but that the line of a mailbox before the header becomes a field. Folds and ends of added fields have the line
// end of the message's first line, CRLF where it has none.
func Apply(raw []byte, j Judgement) []byte {
	eol, add := lineEnd(raw), j.Add
	if len(add) > 0 && startsMailbox(raw) {
		raw = slices.Concat([]byte(mailboxName+": "), raw)
	}
	if j.Subject != "" {
		var missing []Field
		raw, missing = prefixSubject(raw, j.Subject)
		add = slices.Concat(add, missing)
	}
	var b bytes.Buffer
	b.Grow(len(raw) + 512)
	for _, f := range add {
		b.WriteString(f.Name)
		b.WriteByte(':')
		b.WriteString(strings.ReplaceAll(f.Value, "\n", eol))
		b.WriteString(eol)
	}
	head := strip(&b, raw, j.Strip)
	if len(add) > 0 && head == 0 && !startsHeader(raw) {
		b.WriteString(eol) // the message has no header: its body must not become one
	}
	b.Write(raw[head:])
	return b.Bytes()
}

// mailboxName is the field that Postfix makes of a line "From " of a mailbox with which content begins, and so do we: below
// fields the line would end the header, and all of the message's own would be its text.
const mailboxName = "X-Mailbox-Line"

// startsMailbox tells whether the message begins with such a line, as parse sees it: it is text where no field follows.
func startsMailbox(raw []byte) bool {
	if !bytes.HasPrefix(bytes.TrimPrefix(raw, []byte(">")), []byte("From ")) {
		return false
	}
	line, rest, _ := bytes.Cut(raw, []byte("\n"))
	next, _, _ := bytes.Cut(rest, []byte("\n"))
	return fieldName(line) == "" && fieldName(next) != ""
}

func lineEnd(raw []byte) string {
	if i := bytes.IndexByte(raw, '\n'); i >= 0 && (i == 0 || raw[i-1] != '\r') {
		return "\n"
	}
	return "\r\n"
}

// startsHeader says whether the message begins with a header field or with the empty line that ends a header.
func startsHeader(raw []byte) bool {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	return len(line) == 0 && len(raw) > 0 || fieldName(line) != ""
}

// HasHeader tells whether the message begins with a header, as Apply sees it.
func HasHeader(raw []byte) bool {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return fieldName(line) != "" || startsMailbox(raw)
}

// fieldName returns the name of a header field (RFC 5322 section 2.2: printable ASCII but the colon; blanks before the
// colon are obsolete but met), "" where the line is none.
func fieldName(line []byte) string {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return ""
	}
	name := bytes.TrimRight(line[:i], " \t")
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return ""
		}
	}
	return string(name)
}

// strip writes the header without the fields of the names, and returns how many octets of raw that was. The header goes to the
// first empty line. A line in it that is no field ends it for Postfix and for parse, but not for Dovecot, whose filters would
// find a forged field below.
func strip(b *bytes.Buffer, raw []byte, names []string) int {
	if len(names) == 0 {
		return 0
	}
	at, dropping := 0, false
	for at < len(raw) {
		end := len(raw)
		if i := bytes.IndexByte(raw[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := raw[at:end]
		if line[0] != ' ' && line[0] != '\t' || at == 0 {
			text := bytes.TrimRight(line, "\r\n")
			name := fieldName(text)
			if len(text) == 0 || at == 0 && name == "" {
				return at // the empty line, or a message without a header
			}
			dropping = listed(names, name)
		}
		if !dropping {
			b.Write(line)
		}
		at = end
	}
	return at
}

func listed(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
