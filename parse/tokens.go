package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendTokens appends the tokens of a text that [Fold] has folded, and returns the longer slice.
//
// A token is, whichever comes first:
//   - the host of a URL (http, https, ftp, or bare with "www."), the rest of the URL is dropped;
//   - an e-mail address;
//   - a pair of neighbouring characters of a script written without spaces between words (Han,
//     Kana, Hangul, Thai, Lao, Khmer, Myanmar), or one such character that stands alone;
//   - a word whose letters are set apart: 4 to 24 of them, each followed by the same mark or space;
//   - a word of letters and digits, its inner apostrophes dropped. A word that holds a letter is
//     reduced to its skeleton, in which look-alikes such as l, i and 1, or s, 5 and $ are one:
//     a copy with such letters exchanged then gives equal tokens.
//
// No token is empty. Nearly all are substrings of the text or of one string of the same length, so
// that a token that is kept keeps that string.
func AppendTokens(dst []string, folded string) []string {
	t := tokenizer{src: folded, skel: skeletonOf(folded), at: -1, dst: dst}
	for t.pos < len(t.src) {
		switch k := class[t.src[t.pos]]; {
		case k == isWide:
			t.wide()
		case k&(isLetter|isDigit) != 0:
			t.plain()
		case k == isMark:
			t.word()
		default:
			t.pos++
		}
	}
	return t.dst
}

type tokenizer struct {
	src  string
	skel string // src with each byte replaced by its skeleton
	pos  int    // next byte of src to read
	at   int    // position of the next '@' at or after pos, as far as known; len(src) where there is none
	dst  []string
}

func skeletonOf(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var chunk [256]byte
	for len(s) > 0 {
		n := min(len(s), len(chunk))
		for i := range n {
			chunk[i] = skeleton[s[i]]
		}
		b.Write(chunk[:n])
		s = s[n:]
	}
	return b.String()
}

func (t *tokenizer) emit(s string) {
	if s != "" {
		t.dst = append(t.dst, s)
	}
}

// plain reads what begins with a letter or digit of ASCII: nearly always a word of nothing else.
func (t *tokenizer) plain() {
	if t.address() {
		return
	}
	end, k := t.pos, uint8(0)
	for end < len(t.src) && class[t.src[end]]&(isLetter|isDigit) != 0 {
		k |= class[t.src[end]]
		end++
	}
	if end < len(t.src) && class[t.src[end]] != 0 {
		t.word()
		return
	}
	if end < len(t.src) && (t.src[end] == ':' || t.src[end] == '.') && t.url(t.src[t.pos:end]) {
		return
	}
	switch {
	case k&isLetter == 0:
		t.emit(t.src[t.pos:end])
	case end == t.pos+1 && t.apart():
		return
	default:
		t.emit(t.skel[t.pos:end])
	}
	t.pos = end
}

// maxApart is the most letters set apart that are taken for one word.
const maxApart = 24

// apart reads a word whose letters are set apart ("v i a g r a"), if one begins here.
func (t *tokenizer) apart() bool {
	end, sep := t.pos+1, byte(0)
	if end < len(t.src) {
		sep = t.src[end]
	}
	if strings.IndexByte(" .-_*/", sep) < 0 {
		return false
	}
	for end < t.pos+2*maxApart-1 && end+1 < len(t.src) && t.src[end] == sep && alnum(t.src[end+1]) && (end+2 == len(t.src) || class[t.src[end+2]] == 0) {
		end += 2
	}
	if end < t.pos+7 {
		return false
	}
	var b strings.Builder
	for i := t.pos; i < end; i += 2 {
		b.WriteByte(t.skel[i])
	}
	t.emit(b.String())
	t.pos = end
	return true
}

// wide reads what begins with a character outside ASCII.
func (t *tokenizer) wide() {
	r, n := utf8.DecodeRuneInString(t.src[t.pos:])
	switch {
	case unspaced(r):
		t.bigrams()
	case wordRune(r):
		t.word()
	default:
		t.pos += n
	}
}

// bigrams reads a run of characters of unspaced scripts. Up to three spaces or signs between two of
// them are skipped, and among these one letter of another script that stands alone: where a line was
// wrapped, or characters set apart, the pairs stay the same.
func (t *tokenizer) bigrams() {
	_, n := utf8.DecodeRuneInString(t.src[t.pos:])
	from, to := t.pos, t.pos+n // the character before
	for alone := true; ; alone = false {
		next := t.skip(to)
		r, n := utf8.DecodeRuneInString(t.src[next:])
		if n == 0 || !unspaced(r) {
			if alone {
				t.emit(t.src[from:to])
			}
			t.pos = to
			return
		}
		if to == next {
			t.emit(t.src[from : next+n])
		} else {
			t.emit(t.src[from:to] + t.src[next:next+n])
		}
		from, to = next, next+n
	}
}

// skip returns where what may stand between two characters of unspaced scripts ends.
func (t *tokenizer) skip(at int) int {
	letter := false // the one is passed
	for skipped := 0; skipped < 4; skipped++ {
		r, n := utf8.DecodeRuneInString(t.src[at:])
		switch {
		case n == 0 || unspaced(r):
			return at
		case wordRune(r):
			if after, _ := utf8.DecodeRuneInString(t.src[at+n:]); letter || !unicode.IsLetter(r) || wordRune(after) && !unspaced(after) {
				return at
			}
			letter = true
		}
		at += n
	}
	return at
}

// word reads one word of any characters, or steps over a mark that belongs to none.
func (t *tokenizer) word() {
	begin := t.pos
	letters := t.scan()
	if t.pos == begin {
		t.pos++
		return
	}
	w := t.src[begin:t.pos]
	if letters {
		w = t.skel[begin:t.pos]
	}
	if strings.IndexByte(w, '\'') >= 0 || strings.Contains(w, "\u2019") {
		w = apostrophes.Replace(w)
	}
	t.emit(w)
}

var apostrophes = strings.NewReplacer("'", "", "\u2019", "")

// scan moves pos to the end of the word that begins there and tells whether it holds a letter.
func (t *tokenizer) scan() (letters bool) {
	for begin := t.pos; t.pos < len(t.src); {
		c := t.src[t.pos]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(t.src[t.pos:])
			if !wordRune(r) && !(r == '\u2019' && t.joins(begin, n)) || unspaced(r) {
				break
			}
			letters = letters || unicode.IsLetter(r)
			t.pos += n
			continue
		}
		k := class[c]
		if k == 0 || k == isInner && !t.joins(begin, 1) || k == isMark && !t.stands(begin, letters) {
			break
		}
		letters = letters || k == isLetter
		t.pos++
	}
	return letters
}

// joins tells whether an apostrophe of n bytes at the current place stands inside a word.
func (t *tokenizer) joins(begin, n int) bool {
	if t.pos == begin || t.pos+n >= len(t.src) {
		return false
	}
	if c := t.src[t.pos+n]; c < utf8.RuneSelf {
		return class[c] != 0 && c != '\'' && c != '!'
	}
	r, _ := utf8.DecodeRuneInString(t.src[t.pos+n:])
	return unicode.IsLetter(r) && !unspaced(r)
}

// stands tells whether the mark at the current place ('@', '$', '!', '|' or '+') stands for a letter:
//   - where, after at most seven more marks and digits, a letter follows, and it is no sum of money;
//   - within a word that holds a letter: before a digit, and at its end all but "!" and "++".
func (t *tokenizer) stands(begin int, letters bool) bool {
	i, c := t.pos, t.src[t.pos]
	if c == '$' && i == begin && t.money() {
		return false
	}
	digit := false
	for i < len(t.src) && i < t.pos+8 && class[t.src[i]]&(isMark|isDigit) != 0 {
		digit = digit || class[t.src[i]] == isDigit
		i++
	}
	if i < len(t.src) && class[t.src[i]] == isLetter {
		return true
	}
	if !letters {
		return false
	}
	next := byte(0)
	if t.pos+1 < len(t.src) {
		next = t.src[t.pos+1]
	}
	switch c {
	case '!':
		return digit || class[next] == isMark && next != '!'
	case '+':
		return digit || next != '+' && t.src[t.pos-1] != '+'
	}
	return true
}

// money tells whether the '$' at the current place begins a sum ("$5", "$30m", "$1000off") and not a
// word ("$7ore"): digits follow, of which more than two, or fewer than two letters after them.
func (t *tokenizer) money() bool {
	s := t.src[t.pos+1:]
	n := 0
	for n < len(s) && class[s[n]] == isDigit {
		n++
	}
	letters := n
	for letters < len(s) && class[s[letters]] == isLetter {
		letters++
	}
	return n > 2 || n > 0 && letters < n+2
}
