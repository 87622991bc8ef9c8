package scan

import (
	"math/bits"
	"unsafe"
)

const (
	batch = 16 // queries in one pass: their tables take 8 KB, a quarter of a processor's first cache
	chunk = 64 // codes that are compared at a time
	step  = chunk / lanes
)

// A nibbles has the codes of a chunk spread out: at [h][j] group j of four bits of each of 32 codes, half h of the chunk, in
// some order that is the same for all groups. Group j of a code is bits 4j to 4j+3 of its 256.
type nibbles [chunk / 32][64][32]uint8

// A tables has a table of 16 bytes for each group of four bits and two queries: at [p][j], byte v is the number of bits in
// which v differs from group j of query 2p, and 16 times that of query 2p+1.
type tables [batch / 2][64][2]uint64

// differing has, for each value of four bits, in how many bits the values 0 to 15 differ from it, a byte each.
var differing = func() (t [16][2]uint64) {
	for v := range t {
		for i := range 16 {
			t[v][i/8] |= uint64(bits.OnesCount(uint(v^i))) << (i % 8 * 8)
		}
	}
	return t
}()

func (t *tables) set(query int, code *[4]uint64) {
	pair, shift := &t[query/2], query%2*4
	for j := range pair {
		d := &differing[code[j/16]>>(j%16*4)&15]
		pair[j][0] |= d[0] << shift
		pair[j][1] |= d[1] << shift
	}
}

// line is the size of a line of the first cache, in bytes. Where a goroutine's stack puts the spread codes astride of lines,
// writing them takes a third longer.
const line = 64

// far is the distance from which on the kernel for several queries, which counts modulo 256, says nothing of use.
const far = 255

// compare searches for up to batch codes in one pass, all of which have no hit yet.
func (s *Set) compare(codes [][4]uint64, hits []Hit) {
	var queries [batch][4]uint64
	var limits [batch]uint64
	copy(queries[:], codes)
	for i := range hits {
		limits[i] = uint64(hits[i].Distance)
	}
	done := 0
	for ; done+step <= s.n/lanes; done += step {
		blocks := (*[step]block)(s.blocks[done:])
		next := &s.blocks[min(done+2*step, len(s.blocks)-1)] // the next chunk but one: the memory is slower than a turn
		for found := belowAVX512(blocks, &queries, &limits, len(codes), next); found != 0; found &= found - 1 {
			i := bits.TrailingZeros64(found)
			s.searchBlocks(done, done+step, &codes[i], &hits[i])
			limits[i] = uint64(hits[i].Distance)
		}
	}
	for i := range codes {
		s.search(done, &codes[i], &hits[i])
	}
}

// lookUp searches for up to batch codes in one pass, all of which have no hit yet.
func (s *Set) lookUp(codes [][4]uint64, hits []Hit) {
	var t tables
	var limits [batch]uint8 // stays 0 where there is no query: no distance is below
	for i := range codes {
		t.set(i, &codes[i])
		limits[i] = far
	}
	var room [unsafe.Sizeof(nibbles{}) + line]byte
	spread := (*nibbles)(unsafe.Pointer(&room[line-uintptr(unsafe.Pointer(&room))%line]))
	done := 0
	for ; done+step <= s.n/lanes; done += step {
		blocks := (*[step]block)(s.blocks[done:])
		spreadAVX2(blocks, spread)
		for found := belowAVX2(spread, &t, &limits, (len(codes)+3)/4, &s.blocks[min(done+step, len(s.blocks)-1)]); found != 0; found &= found - 1 {
			i := bits.TrailingZeros64(found)
			s.searchBlocks(done, done+step, &codes[i], &hits[i])
			limits[i] = uint8(min(far, hits[i].Distance))
		}
	}
	for i := range codes {
		from := done
		if hits[i].Distance >= far {
			from, hits[i] = 0, None
		}
		s.search(from, &codes[i], &hits[i])
	}
}
