package store

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// TestFeaturesAreDistinct: what comes again in a text is one feature.
func TestFeaturesAreDistinct(t *testing.T) {
	once := features(strings.Fields("harvest festival tomorrow evening"))
	again := features(strings.Fields(strings.Repeat("harvest festival tomorrow evening ", 3)))
	seen := map[uint64]bool{}
	for _, f := range again {
		if seen[f.hash] {
			t.Errorf("feature %x comes twice", f.hash)
		}
		seen[f.hash] = true
	}
	if len(again) != len(once)+1+4 { // across the seam: a pair, and the ends of two words in four ways
		t.Errorf("%d features, %d of the words once", len(again), len(once))
	}
}

// TestDistinct: of equal features the first stays, whatever lies in the way of their hashes.
func TestDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var room []uint64
	for _, n := range []int{0, 1, 7, 100, 3000, roomyTable} {
		all, seen := make([]feature, n), map[uint64]bool{}
		var want []feature
		for i := range all {
			all[i] = feature{r.Uint64N(uint64(n))<<r.IntN(3)<<40 + r.Uint64N(3) + 1, kind(i % kinds)}
			if !seen[all[i].hash] {
				want = append(want, all[i])
			}
			seen[all[i].hash] = true
		}
		var got []feature
		if got, room = distinct(all, room); !slices.Equal(got, want) {
			t.Errorf("of %d features %d stay, want %d", n, len(got), len(want))
		}
	}
}

// TestHashOfThree: it is the XXH64 by which the background and stored clusters know the ends of words.
func TestHashOfThree(t *testing.T) {
	for i := range uint32(1 << 16) {
		w := string([]byte{byte(i), byte(i >> 8), byte(i * 7)})
		if got, want := hashOfThree(w), xxhash.Sum64String(w); got != want {
			t.Fatalf("%x: %x, want %x", w, got, want)
		}
	}
}
