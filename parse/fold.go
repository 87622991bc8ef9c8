package parse

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold reduces a text to what a reader takes it for: compatibility forms to plain ones (NFKC),
// letters lower case, format characters and accents dropped, letters of other alphabets that look
// like Latin ones taken for them, every run of white space one space, none at the ends.
//
// Letters that only look Latin are taken for Latin in a word that holds a Latin letter too, and, in
// a text that is more Latin than not, also in a word made of such letters alone: so "раураl" and,
// among English, "сор" are folded, while a Russian text stays Russian. Latin letters lose their
// accents, since "víagrä" is read as the word without them; letters of other alphabets keep those
// that belong to them.
//
// Fold(Fold(s)) == Fold(s). Invalid UTF-8 becomes U+FFFD.
func Fold(s string) string {
	if ascii(s) {
		return foldASCII(s)
	}
	s = unmask(s)
	f := folder{out: make([]byte, 0, len(s))}
	f.fold(s)
	if f.pending && f.latin > f.other {
		f = folder{out: f.out[:0], whole: true}
		f.fold(s)
	}
	return string(f.out)
}

// Text is the author's own words, folded: what codes are computed of.
func (m *Message) Text() string {
	var body []string
	for _, b := range m.Blocks {
		if b.Kind == Body {
			body = append(body, b.Text)
		}
	}
	return Fold(strings.Join(body, "\n"))
}

func ascii(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if (s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7]) >= utf8.RuneSelf {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldASCII folds a text that is ASCII throughout. Control characters count as white space.
func foldASCII(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var chunk [256]byte
	for after := byte(' '); len(s) > 0; { // the octet before
		n := 0
		for n <= len(chunk)-8 && len(s) > 0 {
			if x, ok := foldEight(s, after == ' '); ok {
				binary.LittleEndian.PutUint64(chunk[n:], x)
				n, s, after = n+8, s[8:], byte(x>>56)
				continue
			}
			c := lowered[s[0]]
			chunk[n] = c
			if c != ' ' || after != ' ' {
				n++
			}
			s, after = s[1:], c
		}
		b.Write(chunk[:n])
	}
	return strings.TrimSuffix(b.String(), " ")
}

// foldEight folds the first eight octets of ASCII at once, where no space that is dropped is among them: no sum of two octets below
// 128 reaches into the next.
func foldEight(s string, spaced bool) (x uint64, ok bool) {
	if len(s) < 8 {
		return 0, false
	}
	const each, high = 0x0101010101010101, 0x8080808080808080
	x = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	space := ^(x + (127-' ')*each) & high // up to ' '
	before := space << 8
	if spaced {
		before |= 0x80
	}
	if space&before != 0 || (x+each)&high != 0 { // two of them, or DEL
		return 0, false
	}
	spaces := space >> 7 * 0xff
	x = x&^spaces | ' '*each&spaces
	upper := (x + (128-'A')*each) &^ (x + (127-'Z')*each) & high
	return x + upper>>2, true // 'a'-'A'
}

// lowered maps each byte of ASCII to its folded form, white space and control characters to ' '.
var lowered = func() (t [256]byte) {
	for i := range utf8.RuneSelf {
		t[i] = byte(unicode.ToLower(rune(i)))
		if i < ' ' || i == 0x7f {
			t[i] = ' '
		}
	}
	return t
}()

// A folder writes the folded form of a text that is unmasked.
type folder struct {
	out     []byte
	whole   bool // words wholly of look-alikes are Latin
	pending bool // such words were met and left
	gap     bool
	latin   int // letters that are Latin, or in a mixed word
	other   int // other letters
}

func (f *folder) fold(s string) {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && class[c|0x20]&isLetter == 0 {
			f.ascii(lowered[c])
			i++
			continue
		}
		n, p, alien := wordAt(s[i:])
		if n == 0 {
			r, size := utf8.DecodeRuneInString(s[i:])
			f.sign(r)
			i += size
			continue
		}
		f.word(s[i:i+n], p, alien)
		i += n
	}
}

// ascii writes a folded byte, or notes a gap.
func (f *folder) ascii(c byte) {
	if c == ' ' {
		f.gap = len(f.out) > 0
		return
	}
	f.space()
	f.out = append(f.out, c)
}

func (f *folder) space() {
	if f.gap {
		f.out = append(f.out, ' ')
		f.gap = false
	}
}

// sign writes a character that is no letter.
func (f *folder) sign(r rune) {
	if properties(r)&spacing != 0 {
		f.gap = len(f.out) > 0
		return
	}
	f.space()
	f.out = utf8.AppendRune(f.out, lowerRune(r))
}

// wordAt is the length of the run of letters that s begins with, the properties that any of them has,
// and whether there is one that neither is nor looks Latin.
func wordAt(s string) (n int, p property, alien bool) {
	for n < len(s) {
		c := s[n]
		if c < utf8.RuneSelf {
			if class[c|0x20]&isLetter == 0 {
				break
			}
			p |= roman
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[n:])
		q := properties(r)
		if q&letter == 0 {
			break
		}
		alien = alien || q&(roman|lookalike) == 0
		p |= q
		n += size
	}
	return n, p, alien
}

// word writes a run of letters.
func (f *folder) word(w string, p property, alien bool) {
	f.space()
	whole := p&(roman|lookalike) == lookalike && !alien
	f.pending = f.pending || whole
	take := roman
	if p&roman != 0 || whole && f.whole {
		take |= lookalike
	}
	for i := 0; i < len(w); {
		if c := w[i]; c < utf8.RuneSelf {
			f.out = append(f.out, lowered[c])
			f.latin++
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(w[i:])
		i += n
		q := properties(r)
		if q&cased != 0 && q&lookalike == 0 {
			r = unicode.ToLower(r)
		}
		if q&take != 0 {
			f.latin++
			if a, ok := alike[r]; ok {
				r = a
			}
		} else {
			f.other++
		}
		f.out = utf8.AppendRune(f.out, lowerRune(r))
	}
}

func lowerRune(r rune) rune {
	if r >= utf8.RuneSelf && properties(r)&cased != 0 {
		return unicode.ToLower(r)
	}
	return r
}
