package parse

import "unicode"

// What a byte of ASCII is to the tokenizer.
const (
	isLetter = 1 << iota
	isDigit
	isMark  // '@', '$', '!', '|', '+': a letter in disguise between letters
	isInner // apostrophe
)

var (
	class    = classes()
	skeleton = skeletons()
)

func classes() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = isLetter
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = isDigit
	}
	for _, c := range "@$!|+" {
		t[c] = isMark
	}
	t['\''] = isInner
	return t
}

// skeletons maps each byte to the first of the letters that it can be taken for.
func skeletons() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for _, g := range []string{"il1|!", "o0", "a@4", "e3", "s5$", "t7+", "b8", "g9"} {
		for i := range len(g) {
			t[g[i]] = g[0]
		}
	}
	return t
}

func alnum(c byte) bool { return class[c]&(isLetter|isDigit) != 0 }

// wordRune tells whether r, outside ASCII, can be part of a word.
func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// unspaced tells whether r is of a script that is cut into pairs of characters: one that puts no
// spaces between words, or Hangul, whose words carry changing endings.
func unspaced(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF: // Thai, Lao
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r >= 0x1000 && r <= 0x109F, r >= 0x1100 && r <= 0x11FF, r >= 0x1780 && r <= 0x17D3: // Myanmar, Jamo, Khmer
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r < 0x3005:
		return false
	case r <= 0x3007: // iteration mark, closing mark, zero
		return true
	case r >= 0x3041 && r <= 0x31FF: // Kana, Bopomofo, Jamo
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r >= 0x3400 && r <= 0x4DBF, r >= 0x4E00 && r <= 0x9FFF, r >= 0xA960 && r <= 0xA97F,
		r >= 0xAC00 && r <= 0xD7FF, r >= 0xF900 && r <= 0xFAFF, r >= 0x20000 && r <= 0x3FFFF:
		return true
	}
	return false
}
