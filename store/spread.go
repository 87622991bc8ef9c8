package store

import (
	"cmp"
	"slices"
)

// sortSpread sorts values that are spread evenly over buckets, where bucket grows with the value: each goes into its
// bucket, and then only neighbours are out of order. The last bucket may hold many. It returns the sorted values, in spare
// where that has the room, and what is free now. Linear where the values are as spread as that.
func sortSpread[T cmp.Ordered](values, spare []T, buckets int, bucket func(T) int) (sorted, free []T) {
	var room [maxBuckets]int
	ends := room[:buckets]
	for _, x := range values {
		ends[bucket(x)]++
	}
	sum := 0
	for i, n := range ends {
		sum += n
		ends[i] = sum - n
	}
	last := ends[buckets-1]
	spare = slices.Grow(spare[:0], len(values))[:len(values)]
	for _, x := range values {
		at := &ends[bucket(x)]
		spare[*at] = x
		*at++
	}
	for i := 1; i < last; i++ {
		for k := i; k > 0 && spare[k] < spare[k-1]; k-- {
			spare[k], spare[k-1] = spare[k-1], spare[k]
		}
	}
	slices.Sort(spare[last:])
	return spare, values
}

// maxBuckets is how many buckets sortSpread takes.
const maxBuckets = 512
