// Package scan finds the nearest of many codes of 256 bits by comparing them all. It serves Nilsimsa codes and SimHash
// fingerprints alike, both of which are arrays of four words; distances are Hamming distances.
//
// Codes lie in blocks of eight, word by word: first word 0 of all eight, then word 1, and so on, so that a vector unit can
// take a word of each with one load. There is nothing in a set for the garbage collector to follow.
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
	var hit [1]Hit
	s.NearestEach([][4]uint64{code}, hit[:])
	return hit[0]
}

// NearestEach sets hits[i] to what Nearest(codes[i]) returns. All searches share one pass, which pays as soon as the set is
// larger than the cache. The two slices must be of the same length.
func (s *Set) NearestEach(codes [][4]uint64, hits []Hit) {
	for i := range hits {
		hits[i] = None
	}
	full := s.n / lanes
	for b := range s.blocks[:full] {
		for i := range codes {
			if d, lane := nearest(&s.blocks[b], &codes[i]); d < hits[i].Distance {
				hits[i] = Hit{b*lanes + lane, d}
			}
		}
	}
	for n := full * lanes; n < s.n; n++ {
		for i := range codes {
			if d := distance(s.At(n), codes[i]); d < hits[i].Distance {
				hits[i] = Hit{n, d}
			}
		}
	}
}

// Within yields every code at a distance of at most d bits, by rising index.
func (s *Set) Within(code [4]uint64, d int) iter.Seq[Hit] {
	return func(yield func(Hit) bool) {
		for n := 0; n < s.n; n++ {
			if n%lanes == 0 { // what lies behind the last code can only make its block look nearer
				if best, _ := nearest(&s.blocks[n/lanes], &code); best > d {
					n += lanes - 1
					continue
				}
			}
			if got := distance(s.At(n), code); got <= d && !yield(Hit{n, got}) {
				return
			}
		}
	}
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
