package store

import (
	"cmp"
	"math"
	"slices"
)

// What is spread evenly over buckets is sorted in linear time: each value goes into its bucket, and then only neighbours are
// out of order. Both sorts return the sorted values, in spare where that has the room, and what is free now.

// sortNear sorts what solos keep of ids.
func sortNear(ids, spare []uint32) (sorted, free []uint32) {
	const shift = idsSpan - 7
	if len(ids) < 2 {
		return ids, spare
	}
	var ends [1 << (idsSpan - shift)]int32
	for _, id := range ids {
		ends[id>>shift]++
	}
	last := starts(ends[:])
	spare = slices.Grow(spare[:0], len(ids))[:len(ids)]
	for _, id := range ids {
		at := &ends[id>>shift]
		spare[*at] = id
		*at++
	}
	sortNeighbours(spare, last)
	return spare, ids
}

// rankBuckets is how many parts ranks are sorted into.
const rankBuckets = 512

// sortRanks sorts ranks, which stand in the high half of values as the bits of a float32, and of which scale makes the number
// of the bucket. The last bucket has all that is beyond it, and may hold many.
func sortRanks(values, spare []uint64, scale float32) (sorted, free []uint64) {
	bucket := func(x uint64) int { return int(min(rankBuckets-1, math.Float32frombits(uint32(x>>32))*scale)) }
	var ends [rankBuckets]int32
	for _, x := range values {
		ends[bucket(x)]++
	}
	last := starts(ends[:])
	spare = slices.Grow(spare[:0], len(values))[:len(values)]
	for _, x := range values {
		at := &ends[bucket(x)]
		spare[*at] = x
		*at++
	}
	sortNeighbours(spare, last)
	return spare, values
}

// starts makes of how many each bucket has where it begins, and returns where the last does.
func starts(buckets []int32) (last int) {
	sum := int32(0)
	for i, n := range buckets {
		buckets[i] = sum
		sum += n
	}
	return int(buckets[len(buckets)-1])
}

// sortNeighbours sorts values that are out of order within buckets alone, of which that from last on may be large.
func sortNeighbours[T cmp.Ordered](values []T, last int) {
	for i := 1; i < last; i++ {
		for k := i; k > 0 && values[k] < values[k-1]; k-- {
			values[k], values[k-1] = values[k-1], values[k]
		}
	}
	slices.Sort(values[last:])
}
