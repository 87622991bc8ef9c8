package nilsimsa

import "encoding/binary"

// Every byte of a text, with the four before it, yields eight hashes of three bytes each:
//
//	h(a,b,c,n) = ((tran[(a+n) & 255] XOR (tran[b] * (2n+1))) + tran[c XOR tran[n]]) & 255
//
// All eight are computed at once in the eight bytes ("lanes") of one word. Lane n holds hash n; x0 is the newest byte:
//
//	n   0         1         2         3         4         5         6         7
//	a   x0        x0        x0        x0        x0        x0        x4        x4
//	b   x1        x1        x2        x1        x2        x3        x1        x3
//	c   x2        x3        x3        x4        x4        x4        x0        x0
//
// What a byte contributes depends on its value and its place in the window alone, so a table for each place holds it for all
// lanes. The parts a and b of all places are XORed into one word, the parts c ORed into another (each lane gets its c
// from one place), and the two words are added lane by lane.
//
// One table a place for a, b and c together, with masks to take them apart, is half as large but an eighth slower. Several
// banks of narrower counters against store-forwarding stalls gain nothing, not even on a text of one repeated byte.
var (
	laneA = [8]int{0, 0, 0, 0, 0, 0, 4, 4}
	laneB = [8]int{1, 1, 2, 1, 2, 3, 1, 3}
	laneC = [8]int{2, 3, 3, 4, 4, 4, 0, 0}
)

// warm is the number of lanes that count after so many bytes in the window: the window's missing bytes take no part.
var warm = [6]int{0, 0, 0, 1, 3, 8}

// A laneTable holds the contributions of each byte value: ab by place x0 to x4, c by place x0, x2, x3, x4.
type laneTable struct {
	ab [5][256]uint64
	c  [4][256]uint64
}

var lanes = newLaneTable()

func newLaneTable() *laneTable {
	t := new(laneTable)
	placeC := [5]int{0: 0, 2: 1, 3: 2, 4: 3} // x1 is never c
	for v := range 256 {
		x := byte(v)
		for n := range 8 {
			k := byte(n)
			t.ab[laneA[n]][v] |= uint64(tran[x+k]) << (8 * n)
			t.ab[laneB[n]][v] |= uint64(tran[x]*(2*k+1)) << (8 * n)
			t.c[placeC[laneC[n]]][v] |= uint64(tran[x^tran[k]]) << (8 * n)
		}
	}
	return t
}

// hash returns the eight hashes of a window, lane n in bits 8n to 8n+7.
func (t *laneTable) hash(x0, x1, x2, x3, x4 byte) uint64 {
	return addBytes(t.ab[0][x0]^t.ab[1][x1]^t.ab[2][x2]^t.ab[3][x3]^t.ab[4][x4],
		t.c[0][x0]|t.c[1][x2]|t.c[2][x3]|t.c[3][x4])
}

// addBytes adds two words byte by byte, each sum modulo 256: the low seven bits cannot carry into the next byte, and
// the highest bit of a sum is the XOR of both highest bits and the carry that came in.
func addBytes(a, b uint64) uint64 {
	const high = 0x8080808080808080
	return (a&^high + b&^high) ^ (a^b)&high
}

// group is the number of bytes that the fast loop takes at a time.
const group = 4

// hashGroup stores the hashes of the four bytes p[4:8], each with the four before it.
func (t *laneTable) hashGroup(p *[2 * group]byte, out *[8 * group]byte) {
	x4, x3, x2, x1 := p[0], p[1], p[2], p[3]
	a, b, c, d := p[4], p[5], p[6], p[7]
	binary.LittleEndian.PutUint64(out[0:], t.hash(a, x1, x2, x3, x4))
	binary.LittleEndian.PutUint64(out[8:], t.hash(b, a, x1, x2, x3))
	binary.LittleEndian.PutUint64(out[16:], t.hash(c, b, a, x1, x2))
	binary.LittleEndian.PutUint64(out[24:], t.hash(d, c, b, a, x1))
}

// countGroup counts 32 hashes. It is written out since the loop and its bounds checks cost a third of the speed.
func countGroup(acc *[256]uint64, h *[8 * group]byte) {
	acc[h[0]]++
	acc[h[1]]++
	acc[h[2]]++
	acc[h[3]]++
	acc[h[4]]++
	acc[h[5]]++
	acc[h[6]]++
	acc[h[7]]++
	acc[h[8]]++
	acc[h[9]]++
	acc[h[10]]++
	acc[h[11]]++
	acc[h[12]]++
	acc[h[13]]++
	acc[h[14]]++
	acc[h[15]]++
	acc[h[16]]++
	acc[h[17]]++
	acc[h[18]]++
	acc[h[19]]++
	acc[h[20]]++
	acc[h[21]]++
	acc[h[22]]++
	acc[h[23]]++
	acc[h[24]]++
	acc[h[25]]++
	acc[h[26]]++
	acc[h[27]]++
	acc[h[28]]++
	acc[h[29]]++
	acc[h[30]]++
	acc[h[31]]++
}

// countText counts the hashes of p after its first four bytes, which are only looked back at, and returns how many bytes it
// counted: all but at most 11. Each group is counted while the next one is hashed, so that no load waits for a store just made.
func (t *laneTable) countText(acc *[256]uint64, p []byte) int {
	if len(p) < 2*group {
		return 0
	}
	var even, odd [8 * group]byte
	t.hashGroup((*[2 * group]byte)(p), &even)
	n := group
	for p = p[group:]; len(p) >= 3*group; p = p[2*group:] {
		pair := (*[3 * group]byte)(p) // one bounds check for both groups
		t.hashGroup((*[2 * group]byte)(pair[:]), &odd)
		countGroup(acc, &even)
		t.hashGroup((*[2 * group]byte)(pair[group:]), &even)
		countGroup(acc, &odd)
		n += 2 * group
	}
	countGroup(acc, &even)
	return n
}
