package console

import (
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible shows text that comes out of mail: as it is, but for what would hide, or show something else than is there.
// Control and format characters (the bidirectional ones and those of no width among them), what else is not drawn, and
// octets that are no UTF-8 stand there by their numbers, in marks of their own. White space is a space. The whole is a unit
// of its own for the order of writing (bdi), so that text from right to left moves nothing beside it.
func visible(text string) template.HTML {
	var b strings.Builder
	b.WriteString("<bdi>")
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			mark(&b, fmt.Sprintf(`\x%02x`, text[0]))
		case unicode.IsSpace(r) && r != '\u0085':
			b.WriteByte(' ')
		case hides(r):
			mark(&b, fmt.Sprintf("U+%04X", r))
		default:
			template.HTMLEscape(&b, []byte(text[:size]))
		}
		text = text[size:]
	}
	b.WriteString("</bdi>")
	return template.HTML(b.String())
}

// hides says whether a character is not seen, or changes how others are.
func hides(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == '\u2800'
}

func mark(b *strings.Builder, what string) {
	b.WriteString(`<span class="mark">` + what + `</span>`)
}

// clipped is visible of the first n characters.
func clipped(n int, text string) template.HTML {
	i := 0
	for at := range text {
		if i++; i > n {
			return visible(text[:at]) + "…"
		}
	}
	return visible(text)
}
