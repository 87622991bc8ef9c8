package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Of a crowd that was cut nobody knows all that is beyond the greatest that is left: whichever is united with which, that is left
// out, and what is known is kept.
func TestCrowdsThatWereCut(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, n := range [][2]int{{3, 1000}, {1000, 3}, {50, 200}, {1, 65}, {100, 20_000}} {
		var crowds [2]crowd
		all := n[0] + n[1]
		for i := range all {
			of := 0
			if i >= n[0] {
				of = 1
			}
			crowds[of].add(r.Uint64()|1, 1)
		}
		for i := range crowds { // some are forgotten
			for j := range len(crowds[i].seen) / 4 {
				crowds[i].remove(crowds[i].seen[j].key)
				all--
			}
		}
		known := ^uint64(0)
		for _, c := range crowds {
			if c.cut {
				known = min(known, c.seen[len(c.seen)-1].key)
			}
		}
		ab, ba := crowds[0].clone(), crowds[1].clone()
		ab.unite(&crowds[1])
		ba.unite(&crowds[0])
		if !ab.cut || !ba.cut || !slices.Equal(ab.seen, ba.seen) {
			t.Errorf("of %v: %d and %d, which are not the same", n, len(ab.seen), len(ba.seen))
		}
		if last := ab.seen[len(ab.seen)-1].key; last > known {
			t.Errorf("of %v: %x is beyond %x", n, last, known)
		}
		if off := float64(ab.count()-all) / float64(all); off > 0.6 || off < -0.6 {
			t.Errorf("%d of %v are counted as %d", all, n, ab.count())
		}
		ab.add(known+1, 1)
		if ab.seen[len(ab.seen)-1].key > known {
			t.Errorf("of %v: what is beyond is added", n)
		}
	}
}
