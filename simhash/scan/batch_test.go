package scan

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

func complement(code [4]uint64) [4]uint64 { return [4]uint64{^code[0], ^code[1], ^code[2], ^code[3]} }

// Each number of queries around one and two passes, each size around one and two chunks, the best code in any place.
func TestBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{chunk - 1, chunk, chunk + 1, chunk + lanes, 2*chunk - 1, 2 * chunk, 5*chunk + lanes + 3} {
		codes := coarseCodes(r, n)
		s := setOf(codes)
		for queries := range 2*batch + 2 {
			checkSearches(t, s, codes, coarseCodes(r, queries))
		}
	}
}

// The kernel for several queries counts modulo 256: codes that differ in every bit look equal to it, and those beyond 254
// are not told apart.
func TestFarthest(t *testing.T) {
	query := [4]uint64{0x0123456789abcdef, 0xfedcba9876543210, 0x0f0f0f0f00ff00ff, 1}
	opposite := complement(query)
	for _, flipped := range [][]uint64{{0}, {1}, {0, 1}, {1, 0}, {3, 1, 0}, {3, 3, 1, 1}, {7, 0, 3}} {
		codes := make([][4]uint64, 3*chunk)
		for i := range codes {
			codes[i] = opposite
			codes[i][i%4] ^= flipped[i*len(flipped)/len(codes)]
		}
		checkSearches(t, setOf(codes), codes, [][4]uint64{query, opposite, query, codes[chunk], complement(codes[chunk])})
	}
}

// Every value of four bits in every place is counted against every other.
func TestTables(t *testing.T) {
	var got tables
	queries := coarseCodes(rand.New(rand.NewPCG(13, 14)), batch)
	for i := range queries {
		got.set(i, &queries[i])
	}
	for p := range got {
		for j := range got[p] {
			for v := range 16 {
				packed := got[p][j][v/8] >> (v % 8 * 8) & 0xff
				first, second := queries[2*p][j/16]>>(j%16*4)&15, queries[2*p+1][j/16]>>(j%16*4)&15
				want := bits.OnesCount64(first^uint64(v)) + 16*bits.OnesCount64(second^uint64(v))
				if int(packed) != want {
					t.Fatalf("pair %d, group %d, value %d: %#x, want %#x", p, j, v, packed, want)
				}
			}
		}
	}
}

// Read reads every word, in all of more than one stretch.
func TestRead(t *testing.T) {
	s := setOf(make([][4]uint64, 2*stretch*lanes+5))
	for _, i := range []int{0, 7, 8, stretch*lanes - 1, stretch * lanes, 2*stretch*lanes + 4} {
		for k := range 4 {
			var code [4]uint64
			code[k] = uint64(i + k + 1)
			s.Put(i, code)
			eachKernel(func(kernel string) {
				if got := s.Read(); got != uint64(i+k+1) {
					t.Errorf("%s: word %d of code %d: %#x, want %#x", kernel, k, i, got, i+k+1)
				}
			})
			s.Put(i, [4]uint64{})
		}
	}
	if got := new(Set).Read(); got != 0 {
		t.Errorf("nothing was read of an empty set, yet %#x", got)
	}
}

// A search goes on where a kernel's stretch ends.
func TestStretches(t *testing.T) {
	const n = 2*stretch*lanes + 5
	s := new(Set)
	for range n {
		s.Add([4]uint64{1, 1, 1, 1})
	}
	for _, i := range []int{0, stretch*lanes - 1, stretch * lanes, 2 * stretch * lanes, n - 1} {
		s.Put(i, [4]uint64{})
		eachKernel(func(kernel string) {
			if got, want := s.Nearest([4]uint64{}), (Hit{i, 0}); got != want {
				t.Errorf("%s: %v, want %v", kernel, got, want)
			}
		})
		s.Put(i, [4]uint64{1, 1, 1, 1})
	}
}

// FuzzSearches makes codes and queries of bytes and compares every kernel's searches with the plain ones. Few bytes make
// many codes: each byte is one word of eight equal bytes.
func FuzzSearches(f *testing.F) {
	f.Add([]byte{3}, []byte("codes of few words, of which many are alike"))
	f.Add([]byte{0xff, 0, 0xff, 0, 1, 2, 3, 4}, make([]byte, 4*(chunk+3)))
	f.Fuzz(func(t *testing.T, asked, held []byte) {
		codes := codesOf(held[:min(len(held), 4*300)])
		checkSearches(t, setOf(codes), codes, codesOf(asked[:min(len(asked), 4*(batch+3))]))
	})
}

func codesOf(p []byte) [][4]uint64 {
	codes := make([][4]uint64, (len(p)+3)/4)
	for i, b := range p {
		codes[i/4][i%4] = uint64(b) * 0x0101010101010101
	}
	return codes
}
