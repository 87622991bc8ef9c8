package simhash

import (
	"iter"
	"math/bits"
)

// An Index finds the fingerprints of 64 bits within k bits of a given one: all of them and no others, as a scan of all would.
//
// It is Manku's index (Manku, Jain and Das Sarma 2007, section 3.1) in its smallest form: the bits are cut into four blocks
// of 16, each with a table from the block's value to the fingerprints that have it. Of two fingerprints within 3 bits one
// block must be equal, so k = 3 takes one look-up in each table. For larger k Manku has more and narrower blocks, m, and a
// table for each choice of the m-k that must be equal; here the four tables stay, and each is asked for all values within a
// few bits of the block's (Norouzi, Punjani and Fleet 2012): for k = 6 within 1, 1, 1 and 0 bits, since more in every block
// make 7. Over 10^6 random fingerprints k = 6 so took 17 us and 22 bytes a fingerprint, 28 tables of 8 blocks 29 us and 153
// bytes; k = 4 took 6 us, 15 tables of 6 blocks 3 us, but 356 bytes (AMD EPYC, Zen 3). When the look-ups are more work than
// a scan, because k is large or there are few fingerprints, Near scans.
//
// The zero value is not ready: see NewIndex. Near may be called from many goroutines, but not beside Add. 10^9
// fingerprints are the most.
type Index struct {
	k      int
	radius [indexBlocks]int // how many bits of the block may differ; -1: its table is not needed
	probes int              // look-ups that all radii take
	flips  []uint16         // differences of a block, fewest bits first
	within [maxRadius + 1]int
	heads  [indexBlocks][]uint32 // by the block's value: newest node, 1 for nodes[0]; 0: none
	nodes  []indexNode
	codes  []uint64
	ids    []uint64
}

const (
	indexBlocks = 4
	blockBits   = 64 / indexBlocks
	maxRadius   = 3 // within[3] is 697; the 2517 of radius 4 are more work than a scan

	// scanCost is how many codes a scan compares in the time of one look-up.
	scanCost = 8
)

// An indexNode holds the positions of up to seven fingerprints in codes, counted from 1: half a cache line. A list of single
// positions took five times as long over 10^6 fingerprints.
type indexNode struct {
	next      uint32 // node that was filled before, counted from 1
	positions [7]uint32
}

// NewIndex returns an empty index for distances of 0 to k bits. An index for 0 finds exact copies.
func NewIndex(k int) *Index {
	x := &Index{k: k}
	// Radii r with a sum of r+1 over all blocks of k+1: where every block differs by more, the whole does by more than k.
	for b := range x.radius {
		x.radius[b] = (k+indexBlocks-b)/indexBlocks - 1
	}
	if x.radius[0] > maxRadius {
		return x // no tables: Near scans
	}
	for r := range x.within {
		for d := range 1 << blockBits {
			if bits.OnesCount16(uint16(d)) == r && r <= x.radius[0] {
				x.flips = append(x.flips, uint16(d))
			}
		}
		x.within[r] = len(x.flips)
	}
	for b, r := range x.radius {
		if r >= 0 {
			x.heads[b] = make([]uint32, 1<<blockBits)
			x.probes += x.within[r]
		}
	}
	return x
}

// Add adds a fingerprint under an id, which may occur more than once.
func (x *Index) Add(code, id uint64) {
	x.codes = append(x.codes, code)
	x.ids = append(x.ids, id)
	for b, heads := range x.heads {
		if heads != nil {
			x.push(&heads[block(code, b)], uint32(len(x.codes)))
		}
	}
}

// push puts a position into the list's newest node, or a new one.
func (x *Index) push(head *uint32, position uint32) {
	if *head != 0 {
		node := &x.nodes[*head-1]
		for i, p := range node.positions {
			if p == 0 {
				node.positions[i] = position
				return
			}
		}
	}
	x.nodes = append(x.nodes, indexNode{next: *head, positions: [7]uint32{position}})
	*head = uint32(len(x.nodes))
}

// Near yields the id and the distance, 0 to k, of every fingerprint added within k bits of code, each once, in no
// particular order.
func (x *Index) Near(code uint64) iter.Seq2[uint64, int] {
	return func(yield func(id uint64, distance int) bool) {
		if x.probes == 0 || len(x.codes) <= scanCost*x.probes {
			x.scan(code, yield)
		} else {
			x.lookUp(code, yield)
		}
	}
}

func (x *Index) lookUp(code uint64, yield func(uint64, int) bool) {
	for b, r := range x.radius {
		if r < 0 {
			return
		}
		for _, flip := range x.flips[:x.within[r]] {
			if !x.probe(b, block(code, b)^flip, code, yield) {
				return
			}
		}
	}
}

// probe yields those with this value of block b, but for those that an earlier block's table yields too.
func (x *Index) probe(b int, value uint16, code uint64, yield func(uint64, int) bool) bool {
	for n := x.heads[b][value]; n != 0; n = x.nodes[n-1].next {
		for _, p := range x.nodes[n-1].positions {
			if p == 0 {
				break
			}
			diff := x.codes[p-1] ^ code
			if d := bits.OnesCount64(diff); d <= x.k && !x.earlier(diff, b) && !yield(x.ids[p-1], d) {
				return false
			}
		}
	}
	return true
}

// earlier tells whether a block before b differs by no more than its radius.
func (x *Index) earlier(diff uint64, b int) bool {
	for i, r := range x.radius[:b] {
		if bits.OnesCount16(block(diff, i)) <= r {
			return true
		}
	}
	return false
}

func (x *Index) scan(code uint64, yield func(uint64, int) bool) {
	for i, c := range x.codes {
		if d := Distance(c, code); d <= x.k && !yield(x.ids[i], d) {
			return
		}
	}
}

// block returns bits 16b to 16b+15.
func block(code uint64, b int) uint16 { return uint16(code >> (blockBits * b)) }
