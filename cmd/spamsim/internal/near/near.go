// Package near groups texts that are near-copies of one another.
//
// Two texts are near-copies when the resemblance (Jaccard's coefficient; Broder 1997) of their sets of word triples is at
// least 0.5, estimated from the 256 smallest hashes of each set and exact for texts of up to 256 triples. Which pairs
// are worth comparing, an index of SimHash codes says. Groups are joined by such pairs (union-find), so that a text
// may be far from the other end of its group.
package near

import (
	"slices"
	"strings"

	"spamsim/simhash"
)

const (
	// resemblance from which on two texts are near-copies.
	resemblance = 0.5
	// sketchSize is how many hashes of a text are kept: the estimate's standard deviation is then at most 0.031.
	sketchSize = 256
	// distance of SimHash codes up to which pairs are compared, bits of 64.
	distance = 12
	// fewest triples of a text that is compared: shorter ones are joined to exact copies alone.
	fewest = 8
)

// A Text is what is kept of a text.
type Text struct {
	code   uint64
	whole  uint64   // hash of all words; 0 where there are none
	sketch []uint64 // the smallest hashes of its triples, ascending
}

// Read takes a text, words parted by white space, and its SimHash code.
func Read(text string, code uint64) Text {
	words := strings.Fields(text)
	t := Text{code: code}
	if len(words) == 0 {
		return t
	}
	t.whole = max(1, hash(words))
	for i := range max(0, len(words)-2) {
		t.sketch = append(t.sketch, hash(words[i:i+3]))
	}
	slices.Sort(t.sketch)
	t.sketch = slices.Clone(first(slices.Compact(t.sketch), sketchSize))
	return t
}

// hash is FNV-1a over the words, each ended by a NUL, and then mixed by Stafford's variant 13 of MurmurHash3's finisher:
// FNV alone leaves the highest bits of short texts alike, and the smallest hashes are chosen by those.
func hash(words []string) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * 1099511628211
		}
		h *= 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func first(s []uint64, n int) []uint64 { return s[:min(len(s), n)] }

// resemblance estimates which share of the triples that either text has both have.
func (t *Text) resemblance(u *Text) float64 {
	n := sketchSize // of the smallest hashes of the union, how many are in both
	both, seen := 0, 0
	i, j := 0, 0
	for seen < n && (i < len(t.sketch) || j < len(u.sketch)) {
		seen++
		switch {
		case j == len(u.sketch) || i < len(t.sketch) && t.sketch[i] < u.sketch[j]:
			i++
		case i == len(t.sketch) || u.sketch[j] < t.sketch[i]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	if seen == 0 {
		return 0
	}
	return float64(both) / float64(seen)
}

// Groups are texts and how they hang together.
type Groups struct {
	texts  []Text
	parent []int
	share  []float64
	index  *simhash.Index
	same   map[uint64]int // whole -> the first text
}

// NewGroups returns none.
func NewGroups() *Groups {
	return &Groups{index: simhash.NewIndex(distance), same: map[uint64]int{}}
}

// Add adds a text and joins it to those that it is a near-copy of.
func (g *Groups) Add(t Text) {
	n := len(g.texts)
	g.texts = append(g.texts, t)
	g.parent = append(g.parent, n)
	g.share = append(g.share, 0)
	if t.whole == 0 {
		return
	}
	if twin, ok := g.same[t.whole]; ok { // not into the index: thousands of copies would all be looked at
		g.join(n, twin, 1)
		return
	}
	g.same[t.whole] = n
	if len(t.sketch) < fewest {
		return
	}
	for id := range g.index.Near(t.code) {
		if g.root(int(id)) == g.root(n) {
			continue
		}
		if r := t.resemblance(&g.texts[id]); r >= resemblance {
			g.join(n, int(id), r)
		}
	}
	g.index.Add(t.code, uint64(n))
}

// join makes one group of two texts' groups.
func (g *Groups) join(a, b int, share float64) {
	for _, i := range []int{a, b} {
		g.share[i] = max(g.share[i], share)
	}
	x, y := g.root(a), g.root(b)
	g.parent[max(x, y)] = min(x, y)
}

// root returns the first text of a text's group, and shortens the way to it (path halving).
func (g *Groups) root(i int) int {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// A Member is a text's place: its group, which is the number of the group's first text, and the greatest resemblance
// by which it was joined, 0 where it is alone.
type Member struct {
	Group int
	Share float64
}

// Members returns each text's place, in the order of Add.
func (g *Groups) Members() []Member {
	out := make([]Member, len(g.texts))
	for i := range out {
		out[i] = Member{g.root(i), g.share[i]}
	}
	return out
}
