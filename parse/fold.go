package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold reduces a text to what a reader takes it for: compatibility forms to plain ones (NFKC),
// letters lower case, format characters and stray accents dropped, letters of other alphabets that
// look like Latin ones taken for them, every run of white space one space, none at the ends.
//
// Letters that only look Latin are taken for Latin in a word that holds a Latin letter too, and, in
// a text that is more Latin than not, also in a word made of such letters alone: so "раураl" and,
// among English, "сор" are folded, while a Russian text stays Russian.
//
// Fold(Fold(s)) == Fold(s). Invalid UTF-8 becomes U+FFFD.
func Fold(s string) string {
	if ascii(s) {
		return foldASCII(s)
	}
	s = unmask(s)
	return collapse(lower(alike(s)))
}

// Text is the author's own words, folded: what codes are computed of.
func (m *Message) Text() string {
	var b strings.Builder
	for _, k := range m.Blocks {
		if k.Kind == Body {
			b.WriteString(k.Text)
			b.WriteByte('\n')
		}
	}
	return Fold(b.String())
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldASCII folds a text that is ASCII throughout. Control characters count as white space.
func foldASCII(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case c <= ' ' || c == 0x7f:
			if len(out) == 0 || out[len(out)-1] == ' ' {
				continue
			}
			c = ' '
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	if n := len(out); n > 0 && out[n-1] == ' ' {
		out = out[:n-1]
	}
	return string(out)
}

// unmask drops what is not seen and brings the rest into NFKC. Dropping comes first, since a hidden
// character keeps its neighbours from composing; accents are dropped last, when those that belong
// to a letter are composed with it; then what they kept apart may compose.
func unmask(s string) string {
	s = dropRunes(strings.ToValidUTF8(s, "\uFFFD"), unseen)
	s = dropRunes(norm.NFKC.String(s), func(r rune) bool { return unseen(r) || accent(r) })
	return norm.NFC.String(s)
}

func dropRunes(s string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && drop(r) {
			return -1
		}
		return r
	}, s)
}

// unseen tells whether r leaves no trace on the screen: format characters (general category Cf),
// variation selectors, blank letters of Hangul and Mongolian, and the grapheme joiner.
func unseen(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return r > 0x5FF && unicode.Is(unicode.Cf, r)
}

// accent tells whether r is one of the combining marks that go with any letter: accents, strokes,
// enclosing marks. The vowel signs of Thai, Hebrew or Hindi are no accents.
func accent(r rune) bool {
	return r >= 0x300 && r <= 0x36F || r >= 0x1AB0 && r <= 0x1AFF || r >= 0x1DC0 && r <= 0x1DFF ||
		r >= 0x20D0 && r <= 0x20FF || r >= 0xFE20 && r <= 0xFE2F
}

func lower(s string) string {
	return norm.NFC.String(strings.ToLower(s))
}

func collapse(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if r <= ' ' || r == 0x7f || r >= 0x80 && (r < 0xA0 || unicode.IsSpace(r)) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A Script is a coarse class of writing systems, for what differs with them in the amount of text.
type Script uint8

// The scripts that are told apart.
const (
	Other Script = iota // no letters, or most of another script
	Latin
	CJK // Han, Kana, Hangul and the scripts of South East Asia that are cut into pairs of characters
)

// ScriptOf is the script of most letters of a folded text.
func ScriptOf(folded string) Script {
	var n [3]int
	for _, r := range folded {
		switch {
		case r >= 'a' && r <= 'z', r >= 0xC0 && r < 0x250 && r != 0xD7 && r != 0xF7:
			n[Latin]++
		case r < 0x250:
		case unspaced(r):
			n[CJK]++
		case unicode.IsLetter(r):
			n[Other]++
		}
	}
	switch {
	case n[CJK] > n[Latin] && n[CJK] > n[Other]:
		return CJK
	case n[Latin] > n[Other]:
		return Latin
	}
	return Other
}
