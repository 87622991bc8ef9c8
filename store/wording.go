package store

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"spamsim/parse"
)

// A wording is a text in words, and room for what is made of them.
type wording struct {
	words   []string
	read    int      // how many words there were, before boilerplate was left out
	hashes  []uint64 // of the words
	seen    []uint64
	singles []uint64 // hashes of features
	pairs   []uint64
	people  []uint64 // hashes of the words that name whom the message is from and to
	called  uint64   // a bit for each of those, by its lowest bits
}

// wordings are used again: one of a common message takes 100 KB.
var wordings = sync.Pool{New: func() any { return new(wording) }}

// keep lets another message use it, but for what a huge one took. Words keep their text: they are forgotten.
func (w *wording) keep() {
	if cap(w.words) <= 1<<14 {
		clear(w.words[:w.read])
		wordings.Put(w)
	}
}

// wordsOf is how much of a text words are taken of, in octets. It is far more than people write, and what comes after it tells a
// copy no better; but the features of ten messages of 10 MB at once would take gigabytes.
const wordsOf = 1 << 20

// of takes the words of a folded text that are its own.
func (w *wording) of(folded string) {
	if len(folded) > wordsOf {
		end := wordsOf
		for end > 0 && !utf8.RuneStart(folded[end]) {
			end--
		}
		folded = folded[:end]
	}
	w.words = parse.AppendTokens(w.words[:0], folded)
	w.read = len(w.words)
	w.hashes = wordHashes(w.hashes[:0], w.words)
	w.words, w.hashes = ownWords(w.words, w.hashes)
}

// call notes the words that name people: names, addresses and their local parts. A domain is all who write from there.
func (w *wording) call(people string) {
	folded := parse.Fold(people)
	names := parse.AppendTokens(nil, folded)
	for field := range strings.FieldsSeq(folded) {
		if local, _, ok := strings.Cut(field, "@"); ok {
			names = parse.AppendTokens(names, local)
		}
	}
	w.people, w.called = wordHashes(w.people[:0], names), 0
	for _, h := range w.people {
		w.called |= 1 << (h % 64)
	}
}

// mark is personal for what has a digit, and for a name or part of an address of whom the message is from or to.
func (w *wording) mark(i int) uint8 {
	word := w.words[i]
	for j := range len(word) {
		if word[j]-'0' < 10 {
			return personal
		}
	}
	if h := w.hashes[i]; w.called>>(h%64)&1 != 0 && slices.Contains(w.people, h) {
		return personal
	}
	return 0
}

// features returns the distinct features of the words, in room for them that is used again.
func (w *wording) features(room []feature) []feature {
	out := room[:0]
	lastHead, lastTail := uint64(0), uint64(0) // of the last word that is long enough to be known by its ends
	all, plain, before := plainWords(), false, false
	mark, markBefore, markLast := uint8(0), uint8(0), uint8(0) // of the word, of the one before, of the last long one
	for i, h := range w.hashes {
		markBefore, mark = mark, w.mark(i)
		if isBigram(w.words[i]) {
			out = appendBigram(out, w.words, i, h)
			continue
		}
		before, plain = plain, all.has(h)
		if !plain {
			out = append(out, feature{join(h, 0, wholeWord), single, mark})
		}
		if i > 0 && !(plain && before) {
			out = append(out, feature{join(w.hashes[i-1], h, twoWords), pair, mark & markBefore})
		}
		if plain {
			continue
		}
		head, tail := affixes(w.words[i])
		if head == 0 {
			continue
		}
		if lastHead != 0 {
			m := mark | markLast
			out = append(out, feature{join(lastHead, head, headHead), ends, m}, feature{join(lastTail, tail, tailTail), ends, m},
				feature{join(lastHead, tail, headTail), ends, m}, feature{join(lastTail, head, tailHead), ends, m})
		}
		lastHead, lastTail, markLast = head, tail, mark
	}
	out, w.seen = distinct(out, w.seen)
	return out
}

// features returns the distinct features of words.
func features(words []string) []feature {
	w := wording{words: words, hashes: wordHashes(nil, words)}
	return w.features(nil)
}

// distinct drops the features that came before, in place, and returns the room that this took. What a processor cannot foresee
// is how many places it looks at: most are free, up to roomyTable of them.
func distinct(all []feature, seen []uint64) (out []feature, room []uint64) {
	size := 16
	for size < 2*len(all) || size < 4*len(all) && size < roomyTable {
		size *= 2
	}
	seen = slices.Grow(seen[:0], size)[:size] // by the low bits of a hash: the hash, 0 for none; linear probing
	clear(seen)
	n := 0
	for _, f := range all {
		h := max(1, f.hash)
		i := int(h) & (size - 1)
		x := seen[i]
		for min(x, x^h) != 0 { // neither free nor the same, in one branch
			i = (i + 1) & (size - 1)
			x = seen[i]
		}
		seen[i] = h
		all[n] = f
		if x == 0 {
			n++
		}
	}
	return all[:n], seen
}

const roomyTable = 1 << 15
