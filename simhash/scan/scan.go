// Package scan finds the nearest of many codes of 256 bits by comparing them all. It serves Nilsimsa codes and SimHash
// fingerprints alike, both of which are arrays of four words; distances are Hamming distances.
//
// Codes lie in blocks of eight, word by word: first word 0 of all eight, then word 1, and so on, so that a vector unit can
// take a word of four of them with one load. There is nothing in a set for the garbage collector to follow.
//
// With AVX-512 VPOPCNTDQ one instruction counts the ones of eight words. With AVX2 each group of four bits of a code is looked
// up: one search in a table of the numbers of ones, 16 searches in one pass in tables of the queries', which have two queries'
// differences in one byte. Elsewhere math/bits counts. In nanoseconds for a code and a query, the least of many runs on one of two
// cores, by go test -bench Nearest ./simhash/scan:
//
//	                                  Intel Xeon (2023)                  AMD EPYC (Zen 3)
//	codes                   100,000  1,000,000  10,000,000     100,000  1,000,000  10,000,000
//	nothing but Set.Read       0.91       1.11        2.35        0.40       0.93        1.64
//	one query, AVX-512         0.92       1.10        2.31
//	one query, AVX2            0.94       1.19        2.81        0.77       0.98        1.82
//	one query, math/bits       2.2        2.7         4.7         2.4        2.7         2.8
//	one of 16, AVX-512         0.26       0.27        0.31
//	one of 16, AVX2            0.41       0.43        0.47        0.34       0.34        0.34
package scan

import (
	"iter"
	"math/bits"
)

// lanes is the number of codes in a block.
const lanes = 8

// A block holds eight codes: word k of code i is at [k][i].
type block [4][lanes]uint64

// A Set holds codes by index, 0 to Len()-1. The zero value is empty and ready. Searches may run in many goroutines at once,
// but not beside a change.
type Set struct {
	blocks []block
	n      int
}

// A Hit is a code that a search found: its index, and the number of bits in which it differs, 0 to 256.
type Hit struct{ Index, Distance int }

// None is the hit of a search in an empty set: its index is -1, its distance more than any.
var None = Hit{Index: -1, Distance: 257}

// Len returns the number of codes.
func (s *Set) Len() int { return s.n }

// Add appends a code and returns its index.
func (s *Set) Add(code [4]uint64) int {
	i := s.n
	if i%lanes == 0 {
		s.blocks = append(s.blocks, block{})
	}
	s.n++
	s.Put(i, code)
	return i
}

// Put replaces the code at an index.
func (s *Set) Put(i int, code [4]uint64) {
	b := &s.blocks[i/lanes]
	for k, word := range code {
		b[k][i%lanes] = word
	}
}

// At returns the code at an index.
func (s *Set) At(i int) [4]uint64 {
	b := &s.blocks[i/lanes]
	return [4]uint64{b[0][i%lanes], b[1][i%lanes], b[2][i%lanes], b[3][i%lanes]}
}

// Remove takes the code at index i out. The last code, index Len()-1 before, takes its place.
func (s *Set) Remove(i int) {
	s.Put(i, s.At(s.n-1))
	s.n--
	s.blocks = s.blocks[:(s.n+lanes-1)/lanes]
}

// Nearest returns the nearest code, of several the one with the lowest index; None in an empty set.
func (s *Set) Nearest(code [4]uint64) Hit {
	hit := None
	s.search(0, &code, &hit)
	return hit
}

// NearestEach sets hits[i] to what Nearest(codes[i]) returns. All searches share one pass, or 16 of them where there are
// more. The two slices must be of the same length.
func (s *Set) NearestEach(codes [][4]uint64, hits []Hit) {
	for i := range hits {
		hits[i] = None
	}
	for len(codes) > 0 {
		n := min(batch, len(codes))
		switch {
		case !vector:
			s.together(codes[:n], hits[:n])
		case n == 1 || s.n < chunk:
			for i := range n {
				s.search(0, &codes[i], &hits[i])
			}
		case wide:
			s.compare(codes[:n], hits[:n])
		default:
			s.lookUp(codes[:n], hits[:n])
		}
		codes, hits = codes[n:], hits[n:]
	}
}

// together searches for several codes in one pass.
func (s *Set) together(codes [][4]uint64, hits []Hit) {
	for b := range s.n / lanes {
		for i := range codes {
			hits[i].improve(&s.blocks[b], b, &codes[i])
		}
	}
	for i := range codes {
		s.searchRest(&codes[i], &hits[i])
	}
}

// search sets hit to the nearest code from block b on, where that is nearer than it is.
func (s *Set) search(b int, code *[4]uint64, hit *Hit) {
	s.searchBlocks(b, s.n/lanes, code, hit)
	s.searchRest(code, hit)
}

// searchBlocks is search in the full blocks b to end-1.
func (s *Set) searchBlocks(b, end int, code *[4]uint64, hit *Hit) {
	for b = s.nearer(b, end, code, hit.Distance); b < end; b = s.nearer(b+1, end, code, hit.Distance) {
		hit.improve(&s.blocks[b], b, code)
	}
}

// searchRest is search among the codes of the last block, where that is not full.
func (s *Set) searchRest(code *[4]uint64, hit *Hit) {
	for n := s.n / lanes * lanes; n < s.n; n++ {
		if d := distance(s.At(n), *code); d < hit.Distance {
			*hit = Hit{n, d}
		}
	}
}

// improve sets the hit to the nearest code of block b, where that is nearer than it is.
func (h *Hit) improve(from *block, b int, code *[4]uint64) {
	if d, lane := nearest(from, code); d < h.Distance {
		*h = Hit{b*lanes + lane, d}
	}
}

// Within yields every code at a distance of at most d bits, by rising index.
func (s *Set) Within(code [4]uint64, d int) iter.Seq[Hit] {
	return func(yield func(Hit) bool) {
		limit := min(d, 256) + 1
		// What lies behind the last code can only make its block look nearer.
		for b := s.nearer(0, len(s.blocks), &code, limit); b < len(s.blocks); b = s.nearer(b+1, len(s.blocks), &code, limit) {
			for n := b * lanes; n < min((b+1)*lanes, s.n); n++ {
				if got := distance(s.At(n), code); got < limit && !yield(Hit{n, got}) {
					return
				}
			}
		}
	}
}

// stretch is how many blocks a kernel is given at a time. The runtime cannot stop a goroutine inside one, and everybody
// would wait: this many take 50 us or so.
const stretch = 4096

// nearer returns the first block of b to end-1 with a code that differs from code in fewer than d bits, end where there
// is none.
func (s *Set) nearer(b, end int, code *[4]uint64, d int) int {
	for vector && b < end {
		n := min(stretch, end-b)
		var at int
		if wide {
			at = nearerAVX512(&s.blocks[b], n, code, d)
		} else {
			at = nearerAVX2(&s.blocks[b], n, code, d)
		}
		if at < n {
			return b + at
		}
		b += n
	}
	for ; b < end; b++ {
		if got, _ := nearest(&s.blocks[b], code); got < d {
			break
		}
	}
	return b
}

// Read reads every word, as a search does, and compares nothing: what it takes is the least that any search can take. It
// returns the OR of all words read, those that were left behind the last code by Remove included.
func (s *Set) Read() uint64 {
	var all uint64
	for rest := s.blocks; len(rest) > 0; {
		n := min(stretch, len(rest))
		switch {
		case wide:
			all |= readAVX512(&rest[0], n)
		case vector:
			all |= readAVX2(&rest[0], n)
		default:
			all |= read(rest[:n])
		}
		rest = rest[n:]
	}
	return all
}

func read(blocks []block) uint64 {
	var a, b, c, d uint64
	for i := range blocks {
		for k := range lanes {
			a |= blocks[i][0][k]
			b |= blocks[i][1][k]
			c |= blocks[i][2][k]
			d |= blocks[i][3][k]
		}
	}
	return a | b | c | d
}

// nearest returns the least distance in a block and the first lane that has it.
func nearest(b *block, code *[4]uint64) (distance, lane int) {
	w0, w1, w2, w3 := code[0], code[1], code[2], code[3]
	// The lane in the low bits settles ties, and the minimum needs no branch.
	m := laneDistance(b, 0, w0, w1, w2, w3) * lanes
	m = min(m, laneDistance(b, 1, w0, w1, w2, w3)*lanes+1)
	m = min(m, laneDistance(b, 2, w0, w1, w2, w3)*lanes+2)
	m = min(m, laneDistance(b, 3, w0, w1, w2, w3)*lanes+3)
	m = min(m, laneDistance(b, 4, w0, w1, w2, w3)*lanes+4)
	m = min(m, laneDistance(b, 5, w0, w1, w2, w3)*lanes+5)
	m = min(m, laneDistance(b, 6, w0, w1, w2, w3)*lanes+6)
	m = min(m, laneDistance(b, 7, w0, w1, w2, w3)*lanes+7)
	return int(uint(m) / lanes), int(uint(m) % lanes)
}

func laneDistance(b *block, i int, w0, w1, w2, w3 uint64) int {
	return bits.OnesCount64(b[0][i]^w0) + bits.OnesCount64(b[1][i]^w1) +
		bits.OnesCount64(b[2][i]^w2) + bits.OnesCount64(b[3][i]^w3)
}

func distance(a, b [4]uint64) int {
	return bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) +
		bits.OnesCount64(a[2]^b[2]) + bits.OnesCount64(a[3]^b[3])
}
