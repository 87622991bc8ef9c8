package parse

// What a byte of ASCII is to the tokenizer.
const (
	isLetter = 1 << iota
	isDigit
	isMark  // '@', '$', '!', '|', '+': a letter in disguise between letters
	isInner // apostrophe
	isWide  // of a character outside ASCII
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
	for c := 0x80; c < 0x100; c++ {
		t[c] = isWide
	}
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

func digit(c byte) bool { return c-'0' <= 9 }
