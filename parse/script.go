package parse

import (
	"strings"
	"unicode"
)

// A Script is a coarse class of writing systems, for what differs with them in the amount of text.
type Script uint8

// The scripts that are told apart.
const (
	Other Script = iota // no letters, or most of another script
	Latin
	CJK // Han, Kana, Hangul and the scripts of South East Asia that are cut into pairs of characters
)

// String is "other", "latin" or "cjk".
func (s Script) String() string { return [...]string{"other", "latin", "cjk"}[s] }

// ScriptOf is the script of most letters of a folded text.
func ScriptOf(folded string) Script {
	if ascii(folded) {
		if strings.ContainsFunc(folded, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
			return Latin
		}
		return Other
	}
	var n [3]int
	for _, r := range folded {
		switch {
		case r >= 'a' && r <= 'z', r >= 0xC0 && r < 0x250 && r != 0xD7 && r != 0xF7:
			n[Latin]++
		case r < 0x250:
		case unspaced(r):
			n[CJK]++
		case properties(r)&letter != 0:
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

// unspaced tells whether r is of a script that is cut into pairs of characters: one that puts no
// spaces between words, or Hangul, whose words carry changing endings.
func unspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, r >= 0x1000 && r <= 0x109F, r >= 0x1100 && r <= 0x11FF, r >= 0x1780 && r <= 0x17D3, r >= 0x3041 && r <= 0x31FF:
		return wordRune(r) // Thai and Lao, Myanmar, Jamo, Khmer, Kana with Bopomofo
	case r >= 0x3005 && r <= 0x3007: // iteration mark, closing mark, zero
		return true
	case r >= 0x3400 && r <= 0x4DBF, r >= 0x4E00 && r <= 0x9FFF, r >= 0xA960 && r <= 0xA97F,
		r >= 0xAC00 && r <= 0xD7FF, r >= 0xF900 && r <= 0xFAFF, r >= 0x20000 && r <= 0x3FFFF:
		return true
	}
	return false
}

// wordRune tells whether r, outside ASCII, can be part of a word: a letter, mark or number.
func wordRune(r rune) bool {
	if r < 0x10000 {
		return props[r]&inWord != 0
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}
