package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortNear(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	var spare []uint32
	for n := range 700 {
		ids := make([]uint32, n)
		for i := range ids {
			ids[i] = r.Uint32N(1 << idsSpan)
			if n%5 == 0 { // many in a bucket, the last or another
				ids[i] |= 1<<idsSpan - 1<<(idsSpan-2+n%2)
			}
		}
		want := slices.Sorted(slices.Values(ids))
		ids, spare = sortNear(ids, spare)
		if !slices.Equal(ids, want) {
			t.Fatalf("%v, want %v", ids, want)
		}
	}
}

func TestSortRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	var spare []uint64
	for n := range 700 {
		ranks := make([]uint64, n)
		for i := range ranks {
			rank := 4 * r.Float32() // up to four times what the buckets before the last have
			ranks[i] = uint64(math.Float32bits(rank))<<32 | uint64(i)
		}
		want := slices.Sorted(slices.Values(ranks))
		ranks, spare = sortRanks(ranks, spare, rankBuckets)
		if !slices.Equal(ranks, want) {
			t.Fatalf("%v, want %v", ranks, want)
		}
	}
}
