package parse

import "strings"

// calendarText returns what a person is shown of a calendar object (RFC 5545): the values of its text properties. The
// rest of it is alike in all that one program writes. What is no calendar object is returned as it is.
func calendarText(text string) string {
	if !strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\n"), "BEGIN:VCALENDAR") {
		return text
	}
	unfolded := strings.NewReplacer("\n ", "", "\n\t", "").Replace(text) // section 3.1
	var b strings.Builder
	for line := range strings.Lines(unfolded) {
		name, value := contentLine(strings.TrimRight(line, "\n"))
		switch strings.ToUpper(name) {
		case "SUMMARY", "DESCRIPTION", "LOCATION", "COMMENT", "URL":
			b.WriteString(calendarEscapes.Replace(value))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// calendarEscapes undoes the escapes of text values (section 3.3.11).
var calendarEscapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";")

// contentLine cuts a content line, of which the parameters may hold quoted colons.
func contentLine(line string) (name, value string) {
	quoted := false
	end := -1
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case c == ';' && end < 0:
			end = i
		case c == ':' && !quoted:
			if end < 0 {
				end = i
			}
			return line[:end], line[i+1:]
		}
	}
	return "", ""
}
