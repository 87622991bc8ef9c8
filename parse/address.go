package parse

import "strings"

// firstAddress returns the first addr-spec of a From value, in lower case, "" where there is none. Display names,
// quoted or not, may hold an address too: what stands in angle brackets goes first.
func firstAddress(v string) string {
	v = dropQuoted(dropComments(v))
	if _, after, ok := strings.Cut(v, "<"); ok {
		if in, _, _ := strings.Cut(after, ">"); strings.Contains(in, "@") {
			return strings.ToLower(strings.TrimSpace(in))
		}
	}
	for _, word := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t,;<>:", r) }) {
		if at := strings.IndexByte(word, '@'); at > 0 && at < len(word)-1 {
			return strings.ToLower(word)
		}
	}
	return ""
}

// dropQuoted removes quoted strings, but for a quoted local part.
func dropQuoted(v string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(v, '"')
		if i < 0 {
			break
		}
		j := i + 1
		for j < len(v) && v[j] != '"' {
			if v[j] == '\\' {
				j++
			}
			j++
		}
		if j >= len(v) {
			break
		}
		b.WriteString(v[:i])
		if strings.HasPrefix(v[j+1:], "@") {
			b.WriteString(v[i : j+1])
		}
		v = v[j+1:]
	}
	b.WriteString(v)
	return b.String()
}

// messageID returns the msg-id of a Message-ID value.
func messageID(v string) string {
	if _, after, ok := strings.Cut(v, "<"); ok {
		v, _, _ = strings.Cut(after, ">")
	}
	return strings.TrimSpace(v)
}
