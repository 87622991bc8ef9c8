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

// TestPersonal: a feature is personal where a word of it is a number or names somebody; two words side by side where both do.
func TestPersonal(t *testing.T) {
	var w wording
	w.of("harvest 4711 rosegarden r2d2x7 sunset concern")
	w.call("Sunset, \"M.\" <rosegarden@concern.example>")
	got := map[feature]bool{}
	for _, f := range w.features(nil) {
		got[f] = true
	}
	hash := func(word string) uint64 { return xxhash.Sum64String(word) }
	for i, word := range w.words {
		mark := uint8(personal)
		if word == "harvest" || word == "concern" {
			mark = 0
		}
		if !got[feature{join(hash(word), 0, wholeWord), single, mark}] {
			t.Errorf("%q: its mark is not %d", word, mark)
		}
		if i == 0 {
			continue
		}
		if word == "4711" || word == "concern" {
			mark = 0
		}
		if !got[feature{join(hash(w.words[i-1]), hash(word), twoWords), pair, mark}] {
			t.Errorf("%q %q: its mark is not %d", w.words[i-1], word, mark)
		}
	}
	head, tail := affixes("harvest")
	nextHead, nextTail := affixes("4711")
	if !got[feature{join(head, nextHead, headHead), ends, personal}] || !got[feature{join(tail, nextTail, tailTail), ends, personal}] {
		t.Error("the ends of a word beside a number are not personal")
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
			all[i] = feature{hash: r.Uint64N(uint64(n))<<r.IntN(3)<<40 + r.Uint64N(3) + 1, kind: kind(i % kinds)}
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
