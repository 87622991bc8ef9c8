package store

import (
	"strings"
	"testing"
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
