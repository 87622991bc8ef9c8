package parse

import "unicode"

// A property of a character outside ASCII, as folding sees it.
type property uint16

const (
	letter    property = 1 << iota // or a sign that stands for one
	roman                          // a Latin letter, whatever its form
	lookalike                      // looks like a Latin letter, is of another alphabet
	unseen                         // leaves no trace on the screen
	accent                         // combining mark that goes with any letter: accents, strokes, enclosing marks
	spacing                        // white space or control character
	cased                          // has a lower case form
	inWord                         // letter, mark or number
	stable                         // NFKC leaves it as it is, whatever is beside it
)

// properties of any character; those of ASCII are in [class].
func properties(r rune) property {
	if r < 0x10000 {
		return props[r]
	}
	var p property
	switch {
	case alike[r] != 0:
		return letter | roman
	case r >= 0xE0000 && r < 0xE1000 || unicode.Is(unicode.Cf, r):
		return unseen
	case unicode.IsLetter(r):
		p = letter | inWord
	case unicode.In(r, unicode.M, unicode.N):
		p = inWord
	}
	if unicode.ToLower(r) != r {
		p |= cased
	}
	return p
}

// Characters that leave no trace although they are no format characters: grapheme joiner, Hangul
// fillers, vowels that Khmer does not write, variation selectors; and format characters that show.
var (
	traceless = []rune{0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0,
		0xFE00, 0xFE01, 0xFE02, 0xFE03, 0xFE04, 0xFE05, 0xFE06, 0xFE07, 0xFE08, 0xFE09, 0xFE0A, 0xFE0B, 0xFE0C, 0xFE0D, 0xFE0E, 0xFE0F}
	showing = []rune{0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2}
	accents = &unicode.RangeTable{R16: []unicode.Range16{
		{Lo: 0x300, Hi: 0x34E, Stride: 1}, {Lo: 0x350, Hi: 0x36F, Stride: 1}, {Lo: 0x1AB0, Hi: 0x1AFF, Stride: 1},
		{Lo: 0x1DC0, Hi: 0x1DFF, Stride: 1}, {Lo: 0x20D0, Hi: 0x20FF, Stride: 1}, {Lo: 0xFE20, Hi: 0xFE2F, Stride: 1}}}
)

// stables are the stable characters of common scripts. There are more, which are folded more slowly.
var stables = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0xC0, Hi: 0x131, Stride: 1}, {Lo: 0x14A, Hi: 0x17E, Stride: 1}, {Lo: 0x391, Hi: 0x3CE, Stride: 1}, {Lo: 0x400, Hi: 0x482, Stride: 1},
	{Lo: 0x48A, Hi: 0x52F, Stride: 1}, {Lo: 0x561, Hi: 0x586, Stride: 1}, {Lo: 0x5D0, Hi: 0x5EA, Stride: 1}, {Lo: 0x620, Hi: 0x64A, Stride: 1}, {Lo: 0xE01, Hi: 0xE32, Stride: 1},
	{Lo: 0x1EA0, Hi: 0x1EF9, Stride: 1}, {Lo: 0x2012, Hi: 0x2016, Stride: 1}, {Lo: 0x2018, Hi: 0x2023, Stride: 1}, {Lo: 0x20A0, Hi: 0x20A7, Stride: 1}, {Lo: 0x20A9, Hi: 0x20C0, Stride: 1},
	{Lo: 0x2190, Hi: 0x21FF, Stride: 1}, {Lo: 0x2500, Hi: 0x26FF, Stride: 1}, {Lo: 0x3001, Hi: 0x3029, Stride: 1}, {Lo: 0x3041, Hi: 0x3096, Stride: 1},
	{Lo: 0x30A1, Hi: 0x30FE, Stride: 1}, {Lo: 0x4E00, Hi: 0x9FFF, Stride: 1}, {Lo: 0xAC00, Hi: 0xD7A3, Stride: 1}}}

// props holds the properties of the characters of the Basic Multilingual Plane.
var props = func() *[0x10000]property {
	t := new([0x10000]property)
	set := func(tab *unicode.RangeTable, p property) {
		for _, r := range tab.R16 {
			for c := int(r.Lo); c <= int(r.Hi); c += int(r.Stride) {
				t[c] |= p
			}
		}
	}
	set(unicode.L, letter|inWord)
	set(unicode.M, inWord)
	set(unicode.N, inWord)
	set(unicode.Latin, roman)
	set(unicode.Cf, unseen)
	set(unicode.White_Space, spacing)
	set(unicode.Cc, spacing)
	set(accents, accent)
	set(stables, stable)
	for _, c := range traceless {
		t[c] |= unseen
	}
	for _, c := range showing {
		t[c] &^= unseen
	}
	t[0x2800] = spacing // Braille without a dot
	// Two Arabic ligatures stand for whole sentences, of 33 and 15 octets. They are left as they are:
	// a text of them would grow elevenfold.
	t[0xFDFA], t[0xFDFB] = letter|inWord|stable, letter|inWord|stable
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi) && c < 0x10000 && r.Delta[unicode.LowerCase] != 0; c++ {
			if unicode.ToLower(c) != c {
				t[c] |= cased
			}
		}
	}
	for c := range alike {
		if c < 0x10000 && t[c]&roman == 0 {
			t[c] |= letter | lookalike
		}
	}
	return t
}()
