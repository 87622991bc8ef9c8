package store

import (
	"encoding/binary"
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

// A crowd of which all that was left is forgotten takes in what another knows, whichever is united with which.
func TestCrowdOfWhichNobodyIsLeft(t *testing.T) {
	none, few := crowd{cut: true}, crowd{seen: []tallied{{5, 1}, {6, 1}}}
	a, b := none.clone(), few.clone()
	a.unite(&few)
	b.unite(&none)
	if !slices.Equal(a.seen, few.seen) || !slices.Equal(b.seen, few.seen) || !a.cut || !b.cut {
		t.Errorf("%+v and %+v", a, b)
	}
}

// A part that is not as nodes write it is read as if it were: nobody is in a crowd twice, or is none, and no element came in more
// members than it could.
func TestPartIsReadInOrder(t *testing.T) {
	p := &portion{copies: 3, tau: 1, elements: []element{{7, 9, 2, 1}, {8, 0, 0, 1}}}
	p.senders.seen = []tallied{{9, 1}, {0, 4}, {5, 2}, {9, 3}}
	got, err := readPart(p.marshal())
	if err != nil {
		t.Fatal(err)
	}
	if want := []tallied{{5, 2}, {9, 4}}; !slices.Equal(got.senders.seen, want) {
		t.Errorf("senders %v, want %v", got.senders.seen, want)
	}
	if want := []element{{7, 9, 9, 1}, {8, 0, 1, 1}}; !slices.Equal(got.elements, want) {
		t.Errorf("elements %v, want %v", got.elements, want)
	}
}

// What a crowd is read of may be in any order, and one key may stand twice or be nobody's: whoever has the site's key may write it.
func TestCrowdIsReadInAnyOrder(t *testing.T) {
	le := binary.LittleEndian
	b := []byte{5, 0, 0, 0, 0, 0, 0} // how many, not cut, none over
	for _, key := range []uint64{7, 3, 0, 7, 5} {
		b = le.AppendUint32(le.AppendUint64(b, key), 2)
	}
	var c crowd
	if err := c.read(&reader{data: b}); err != nil {
		t.Fatal(err)
	}
	if want := []tallied{{3, 2}, {5, 2}, {7, 4}}; !slices.Equal(c.seen, want) {
		t.Errorf("%v, want %v", c.seen, want)
	}
}
