package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	var spare []uint32
	for n := range 700 {
		values := make([]uint32, n)
		for i := range values {
			values[i] = r.Uint32N(1 << 20) // up to four buckets' worth beyond the last
		}
		want := slices.Sorted(slices.Values(values))
		values, spare = sortSpread(values, spare, 1<<6, func(x uint32) int { return int(min(1<<6-1, x>>12)) })
		if !slices.Equal(values, want) {
			t.Fatalf("%v, want %v", values, want)
		}
	}
}
