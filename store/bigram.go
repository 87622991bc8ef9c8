package store

import (
	"strings"
	"unicode/utf8"
)

// isBigram says whether a token is two characters of a script that writes no spaces.
func isBigram(w string) bool {
	return len(w) >= 2*3 && len(w) <= 2*4 && w[0] >= 0xe0 && utf8.RuneCountInString(w) == 2
}

// appendBigram adds what a character bigram gives. Two signs that stand for words or syllables, as in Chinese and Korean, are
// as telling as two words. Two letters are not: there are a few dozen of them, and any two texts share most pairs. So Kana and
// the letters of Thai and its neighbours give a run of some in place of each pair, and a letter beside a sign, which is mostly
// an ending, counts as one word.
func appendBigram(out []feature, words []string, i int, h uint64) []feature {
	first, second := runes(words[i])
	switch one, two := spells(first), spells(second); {
	case one && two:
		if run, ok := spelled(words[i:], spelt(first)); ok {
			out = append(out, feature{hash: run, kind: pair})
		}
	case one || two:
		out = append(out, feature{hash: join(h, 0, wholeWord), kind: single})
	default:
		out = append(out, feature{hash: join(h, 0, wholeWord), kind: pair})
	}
	return appendApart(out, words, i, first)
}

// appendApart adds the first sign of a bigram with those two and three places on, which survive that a sign is exchanged
// between. Both places make one feature, which survives that one is put in.
func appendApart(out []feature, words []string, i int, first rune) []feature {
	if spells(first) {
		return out
	}
	for range 2 {
		if i++; !goesOn(words, i) {
			break
		}
		if _, r := runes(words[i]); !spells(r) {
			out = append(out, feature{hash: join(uint64(first), uint64(r), apart), kind: ends})
		}
	}
	return out
}

// spelled is the hash of n letters from the first bigram on, and whether there are so many.
func spelled(words []string, n int) (h uint64, ok bool) {
	var last rune
	for i := range n - 1 {
		if i > 0 && !goesOn(words, i) {
			return 0, false
		}
		var r rune
		r, last = runes(words[i])
		h = join(h, uint64(r), spelling)
	}
	return join(h, uint64(last), spelling), true
}

// goesOn says whether word i is a bigram that begins with the last character of the one before.
func goesOn(words []string, i int) bool {
	if i == len(words) || !isBigram(words[i]) {
		return false
	}
	_, size := utf8.DecodeRuneInString(words[i-1])
	return strings.HasPrefix(words[i], words[i-1][size:])
}

// runes are the characters of a bigram.
func runes(w string) (first, second rune) {
	first, size := utf8.DecodeRuneInString(w)
	second, _ = utf8.DecodeRuneInString(w[size:])
	return first, second
}

// spells says whether a character of an unspaced script is a letter. Above the letters in Unicode are signs, and among them the
// marks from U+3005 on.
func spells(r rune) bool { return r < 0x3005 || r >= firstKana && r < 0x3200 }

// spelt is how many letters are about a word.
func spelt(r rune) int {
	if r >= firstKana {
		return 4
	}
	return mostSpelt
}

const (
	firstKana = 0x3041
	mostSpelt = 6
)
