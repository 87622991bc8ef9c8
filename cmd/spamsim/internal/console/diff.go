package console

import (
	"slices"
	"strings"
	"unicode"

	"spamsim/parse"
)

// A span of a template is a run of words that the copies have in common, or what stands between two such runs.
type span struct {
	Constant bool
	Text     string   // of a constant run
	Variants []string // of a gap: what stands there in the copies, each once, "" where nothing does; at most maxVariants
	More     int      // further ones
}

// Bounds of a comparison.
const (
	diffWords   = 500 // of each copy
	maxVariants = 4
	maxVariant  = 160  // octets of one that are shown
	inMost      = 0.75 // the part of the copies that have what is called constant
)

// A word of a text. Of scripts that write no spaces each character is one.
type word struct {
	text  string
	space bool // white space stands before it
}

// textWords returns the first words of a message's own text, as it is hashed.
func textWords(raw []byte) []word {
	var out []word
	text, space := parse.Parse(raw, parse.Limits{}).Text(), false
	begin := -1
	flush := func(end int) {
		if begin >= 0 {
			out = append(out, word{text[begin:end], space})
			space, begin = false, -1
		}
	}
	for i, r := range text {
		switch {
		case len(out) >= diffWords:
			return out
		case unicode.IsSpace(r):
			flush(i)
			space = true
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush(i)
			begin = i
			flush(i + len(string(r)))
		case begin < 0:
			begin = i
		}
	}
	flush(len(text))
	return out
}

// align finds a longest common subsequence of two texts, and returns for each word of a its place in b, or -1.
func align(a, b []word) []int {
	width := len(b) + 1
	longest := make([]uint16, (len(a)+1)*width) // of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].text == b[j].text {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].text == b[j].text:
			out[i] = j
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// templateOf compares copies of a campaign, the first with each of the others: the words of it that most of them have, in
// the same order, are constant, and what stands between those is what varies. Fewer than two copies have no template.
func templateOf(copies [][]word) []span {
	if len(copies) < 2 {
		return nil
	}
	base := copies[0]
	places := make([][]int, len(copies)) // of the base's words, in each copy
	for k, c := range copies {
		places[k] = align(base, c)
	}
	t := &templating{copies: copies, places: places, from: make([]int, len(copies))}
	constant := make([]bool, len(base))
	for i := range base {
		constant[i] = float64(t.have(i)) >= inMost*float64(len(copies))
	}
	for i := range base {
		alone := i > 0 && !constant[i-1] && i+1 < len(base) && !constant[i+1] // one "the" in text that varies is chance
		if constant[i] && !alone {
			t.anchor(i)
		}
	}
	t.gap(-1)
	return t.out
}

// A templating is a template in the making.
type templating struct {
	copies [][]word
	places [][]int
	from   []int // of each copy: behind the last constant word, -1 where it lacks that word
	out    []span
}

func (t *templating) have(i int) (n int) {
	for _, p := range t.places {
		if p[i] >= 0 {
			n++
		}
	}
	return n
}

// anchor adds a constant word, and what stands before it.
func (t *templating) anchor(i int) {
	t.gap(i)
	w := t.copies[0][i]
	if n := len(t.out); n > 0 && t.out[n-1].Constant {
		t.out[n-1].Text += spaced(w, t.out[n-1].Text)
	} else {
		t.out = append(t.out, span{Constant: true, Text: w.text})
	}
	for k, p := range t.places {
		t.from[k] = p[i]
		if p[i] >= 0 {
			t.from[k]++
		}
	}
}

// gap adds what stands before the base's word i, or behind all constant words for -1, unless that is nothing in any copy.
func (t *templating) gap(i int) {
	var s span
	for k, c := range t.copies {
		to := len(c)
		if i >= 0 {
			to = t.places[k][i]
		}
		if t.from[k] < 0 || to < 0 {
			continue
		}
		text := ""
		for _, w := range c[t.from[k]:to] {
			text += spaced(w, text)
			if len(text) > maxVariant {
				text = strings.ToValidUTF8(text[:maxVariant], "") + "…"
				break
			}
		}
		if !slices.Contains(s.Variants, text) {
			s.Variants = append(s.Variants, text)
		}
	}
	s.More = max(0, len(s.Variants)-maxVariants)
	s.Variants = s.Variants[:len(s.Variants)-s.More]
	if len(s.Variants) > 1 || len(s.Variants) == 1 && s.Variants[0] != "" {
		t.out = append(t.out, s)
	}
}

// spaced is a word with the space that parts it from the text before.
func spaced(w word, before string) string {
	if w.space && before != "" {
		return " " + w.text
	}
	return w.text
}
