package store

import (
	"math"
	"slices"
)

// exactTally is how many distinct things a tally counts exactly.
const exactTally = 64

// A tally counts distinct keyed hashes: exactly to exactTally, beyond that it only notes how many came that it could not
// tell from new ones.
type tally struct {
	seen []tallied
	over uint32
}

type tallied struct {
	key uint64
	n   uint32
}

func (t *tally) index(key uint64) int {
	return slices.IndexFunc(t.seen, func(s tallied) bool { return s.key == key })
}

// first is the key that was counted first, 0 where there is none.
func (t *tally) first() uint64 {
	if len(t.seen) == 0 {
		return 0
	}
	return t.seen[0].key
}

// has says whether the key was counted.
func (t *tally) has(key uint64) bool { return t.index(key) >= 0 }

func (t *tally) add(key uint64, n uint32) {
	if key == 0 {
		return
	}
	if i := t.index(key); i >= 0 {
		t.seen[i].n += n
	} else if len(t.seen) < exactTally {
		t.seen = append(t.seen, tallied{key, n})
	} else {
		t.over += n
	}
}

func (t *tally) remove(key uint64) {
	i := t.index(key)
	switch {
	case key == 0:
	case i < 0 && t.over > 0:
		t.over--
	case i >= 0 && t.seen[i].n > 1:
		t.seen[i].n--
	case i >= 0:
		t.seen = slices.Delete(t.seen, i, i+1)
	}
}

func (t *tally) merge(o *tally) {
	for _, s := range o.seen {
		t.add(s.key, s.n)
	}
	t.over += o.over
}

// Count is a number of distinct things.
type Count struct {
	N      int
	Approx bool // N is an upper bound
}

func (t *tally) count() Count { return Count{len(t.seen) + int(t.over), t.over > 0} }

// few is the number as far as an octet has it.
func (t *tally) few() uint8 { return uint8(min(math.MaxUint8, t.count().N)) }

func (t *tally) clone() tally { return tally{slices.Clone(t.seen), t.over} }

// shares are the counts of what is counted exactly, most first.
func (t *tally) shares() []int {
	out := make([]int, len(t.seen))
	for i, s := range t.seen {
		out[i] = int(s.n)
	}
	slices.SortFunc(out, func(a, b int) int { return b - a })
	return out
}
