package store

import (
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"spamsim/nilsimsa"
	"spamsim/parse"
	"spamsim/simhash"
)

// A Trace is what the store needs of one message: its codes and the features of its text.
type Trace struct {
	Text     string // as hashed: the author's own words, folded
	Octets   int    // of Text
	Tokens   int    // words of it without boilerplate; a CJK bigram is one
	Script   parse.Script
	Nilsimsa nilsimsa.Code
	SimHash  uint64
	Sample   string // subject, for people

	features []feature  // distinct
	room     *[]feature // what they lie in, of rooms
}

// rooms has room for features of messages to come: those of a common message take 25 KB.
var rooms = sync.Pool{New: func() any { return new([]feature) }}

// keptFeatures is how many features there is room for at most in what is used again.
const keptFeatures = 1 << 14

// Release gives the room that the features take to another message. The trace must not be used afterwards.
func (t *Trace) Release() {
	if room := t.room; room != nil && cap(t.features) <= keptFeatures {
		*room = t.features[:0]
		rooms.Put(room)
	}
	t.features, t.room = nil, nil
}

// kind says how a feature was made of the text.
type kind uint8

const (
	single     kind = iota // one word
	pair                   // two words side by side
	ends                   // the beginning or end of a long word and that of the next long word: what survives a typing mistake
	attachment             // a window of an attachment's octets (octets.go)

	kinds = iota
)

// The ways in which a feature is put together, so that none is taken for another.
const (
	wholeWord uint64 = iota
	twoWords
	headHead
	tailTail
	headTail
	tailHead
	apart    // two or three places
	spelling // letters side by side
)

// A feature is one thing that two messages can share.
type feature struct {
	hash uint64 // unseeded: the shipped background knows it by this
	kind kind
	mark uint8 // personal, or 0
}

// id is what the background knows the feature by.
func (f feature) id() uint32 { return uint32(f.hash >> 32) }

// NewTrace computes the codes and features of a message.
func NewTrace(m *parse.Message) *Trace {
	t := &Trace{Text: m.Text(), Sample: m.Subject}
	t.Octets = len(t.Text)
	t.Script = parse.ScriptOf(t.Text)
	var d nilsimsa.Digest
	_, _ = d.WriteString(t.Text)
	t.Nilsimsa = d.Code()
	w := wordings.Get().(*wording)
	defer w.keep()
	w.of(t.Text)
	w.call(m.People)
	t.Tokens = len(w.words)
	t.room = rooms.Get().(*[]feature)
	t.features = w.features(*t.room)
	t.SimHash = w.simHash(t.features)
	if len(m.Attachments) > 0 {
		t.attachments(m)
	}
	return t
}

// simHash is the SimHash of features: words and pairs alone make it up.
func (w *wording) simHash(features []feature) uint64 {
	w.singles = slices.Grow(w.singles[:0], len(features)+1)[:len(features)+1]
	w.pairs = slices.Grow(w.pairs[:0], len(features)+1)[:len(features)+1]
	singles, pairs := 0, 0
	for _, f := range features {
		w.singles[singles], w.pairs[pairs] = f.hash, f.hash
		if f.kind == single {
			singles++
		}
		if f.kind == pair {
			pairs++
		}
	}
	var h simhash.Hash64
	h.AddAll(w.singles[:singles], 1)
	h.AddAll(w.pairs[:pairs], 2)
	return h.Code64(simhash.TieClear)
}

// affixLen is how many characters the beginning and the end of a word are.
const affixLen = 3

// affixes returns the hashes of a word's beginning and end, 0 for a word too short to tell them apart.
func affixes(w string) (head, tail uint64) {
	if len(w) <= affixLen {
		return 0, 0
	}
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return runeAffixes([]rune(w))
		}
	}
	return hashOfThree(w), hashOfThree(w[len(w)-affixLen:])
}

// hashOfThree is the XXH64 (Collet) of the first three octets, without the calls and branches that a string of any length takes.
func hashOfThree(w string) uint64 {
	const p1, p2, p3, p5 = 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0x27d4eb2f165667c5
	h := uint64(p5 + affixLen)
	for i := range affixLen {
		h = bits.RotateLeft64(h^uint64(w[i])*p5, 11) * p1
	}
	h = (h ^ h>>33) * p2
	h = (h ^ h>>29) * p3
	return h ^ h>>32
}

func runeAffixes(w []rune) (head, tail uint64) {
	if len(w) <= affixLen {
		return 0, 0
	}
	return xxhash.Sum64String(string(w[:affixLen])), xxhash.Sum64String(string(w[len(w)-affixLen:]))
}

// join makes one hash of two and of how they stand together.
func join(a, b, how uint64) uint64 {
	return mix(a*0x9e3779b97f4a7c15 + mix(b+how))
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014, figure 15): it spreads each input bit over all output bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform maps a hash to (0, 1].
func uniform(h uint64) float64 { return float64(h>>11+1) * (1.0 / (1 << 53)) }
