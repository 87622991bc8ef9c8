package nilsimsa

// block is the number of bytes whose hashes the kernel computes at a time, one register for each lane.
const block = 64

// leastBlocks is from how many blocks on the kernel is faster than words: its banks must be cleared and added up first.
const leastBlocks = 6

// stretch is how many blocks the kernel is given at a time. The runtime cannot stop a goroutine inside it, and everybody
// would wait: this many take some 50 us.
const stretch = 256

// A tally is what the kernel works in. Lanes n and n+4 share a bank of counters. Of the hashes, which lie lane by lane, one half is
// counted while the other is filled.
type tally struct {
	banks  [4][256]uint32
	hashes [2][8 * block]byte
}

// countText counts the hashes of p after its first four bytes, which are only looked back at, and returns how many bytes it
// counted: all but at most 11.
func countText(acc *[256]uint64, p []byte) int {
	n := 0
	for vector {
		blocks := min((len(p)-n-group)/block, stretch)
		if blocks < leastBlocks {
			break
		}
		countBlocks(acc, p[n:n+group+blocks*block], blocks)
		n += blocks * block
	}
	return n + lanes.countText(acc, p[n:])
}

// countBlocks counts the hashes of p after its first four bytes, which are whole blocks.
func countBlocks(acc *[256]uint64, p []byte, blocks int) {
	var t tally
	for i := 0; i < block; i += group {
		lanes.hashGroup((*[2 * group]byte)(p[i:]), (*[8 * group]byte)(t.hashes[0][8*i:]))
	}
	countAVX512(&t, &p[0], blocks)
	for i, hits := range &t.banks[0] {
		acc[i] += uint64(hits)
	}
}
