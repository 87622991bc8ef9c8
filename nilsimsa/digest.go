// Package nilsimsa computes Nilsimsa codes: locality-sensitive hashes of 256 bits, published by cmeclax in 2001, of which
// near-copies of a text share most bits.
//
// A window of five bytes slides over the text. Eight of its triples are hashed to one of 256 buckets each, and bit i of the
// code is set where bucket i was hit more often than the mean bucket. Nothing of the text is interpreted: line ends, case and
// character set all count. The codes equal those of the original program bit for bit, for texts of any length.
//
// Sum takes one of two paths. The portable one has nothing but words of 64 bits (lanes.go). Where the processor has AVX-512 VBMI,
// texts from some 400 bytes on are hashed 64 bytes at a time by a kernel that permutes 128 bytes at once (vector_amd64.s).
// In MB/s on 16 KB, with the plain loop that the tests hold both against, by go test -bench Sum ./nilsimsa:
//
//	                                kernel   words   plain
//	Intel Xeon (2023), 2.95 GHz        363     265     128
//	AMD EPYC (Zen 3)                     -     220      94
//
// Eight increments a byte limit all of them: a processor stores once a cycle, which on that Xeon is 369 MB/s. AVX2 does not
// pay: a table of 256 bytes is 16 permutations there, the 17 look-ups that a byte takes measured 2.8 ns a byte by
// themselves, and they do not overlap with counting; the words hash in 2.8 ns too, and overlap (BenchmarkHash, BenchmarkCount).
// On arm64, where a look-up in such a table takes four instructions for 16 bytes, it is the words as well.
package nilsimsa

import (
	"hash"
	"math/bits"
	"unsafe"
)

// A Digest computes the code of what is written to it. The zero value is ready for use.
type Digest struct {
	acc    [256]uint64 // hits of each bucket
	total  uint64      // sum of acc; 64 bits, since the original's 32 overflow at 268,435,460 bytes
	window [4]byte     // the last bytes written, newest first
	filled int         // how many bytes of window are of this text, 0 to 4
}

var _ hash.Hash = (*Digest)(nil)

// New returns an empty digest.
func New() *Digest { return new(Digest) }

// Sum returns the code of a text. A text of fewer than three bytes has the zero code.
func Sum(text []byte) Code {
	var d Digest
	d.add(text)
	return d.Code()
}

// Write adds the bytes of p to the text. It never fails. The code does not depend on how a text is cut.
func (d *Digest) Write(p []byte) (int, error) {
	d.add(p)
	return len(p), nil
}

// WriteString adds the bytes of s to the text without copying them. It never fails.
func (d *Digest) WriteString(s string) (int, error) {
	d.add(unsafe.Slice(unsafe.StringData(s), len(s)))
	return len(s), nil
}

// add counts the bytes of p. The first four look back into the window, the bulk of the others only into p.
func (d *Digest) add(p []byte) {
	head := min(len(p), len(d.window))
	for _, b := range p[:head] {
		d.step(b)
	}
	if d.filled < len(d.window) {
		return // so p was shorter than that
	}
	if n := countText(&d.acc, p); n > 0 {
		d.total += 8 * uint64(n)
		last := p[head+n-4 : head+n]
		d.window = [4]byte{last[3], last[2], last[1], last[0]}
		head += n
	}
	for _, b := range p[head:] {
		d.step(b)
	}
}

// step counts one byte.
func (d *Digest) step(b byte) {
	w := &d.window
	h := lanes.hash(b, w[0], w[1], w[2], w[3])
	n := warm[d.filled+1]
	for range n {
		d.acc[byte(h)]++
		h >>= 8
	}
	d.total += uint64(n)
	*w = [4]byte{b, w[0], w[1], w[2]}
	d.filled = min(d.filled+1, len(w))
}

// Break forgets the window but keeps the counts: what is written next is another text, and the code is that of all texts
// together. The original's option -a sums messages so.
func (d *Digest) Break() { d.window, d.filled = [4]byte{}, 0 }

// AddCode adds a code in place of a text that is not at hand: each set bit counts as one hit of its bucket. Codes alone
// so add up to their bitwise majority, roughly, and one code to itself (256 ones excepted, which no text has).
func (d *Digest) AddCode(c Code) {
	for i := range d.acc {
		d.acc[i] += c[i>>6] >> (i & 63) & 1
	}
	for _, word := range c {
		d.total += uint64(bits.OnesCount64(word))
	}
}

// Code returns the code of what was written so far and leaves the digest as it is.
func (d *Digest) Code() Code {
	mean := d.total / 256 // rounded down, which changes nothing in a strict comparison of integers
	var c Code
	for k := range c {
		hits, word := (*[64]uint64)(d.acc[64*k:]), uint64(0)
		for i := 63; i >= 0; i-- {
			word = word<<1 | (mean-hits[i])>>63 // the borrow: 1 where hits > mean
		}
		c[k] = word
	}
	return c
}

// Counts returns the hits of each bucket and their sum, for codes against another mean than the buckets' own: the share of
// bucket i is counts[i]/total. The sum is 0 for a text of fewer than three bytes.
func (d *Digest) Counts() (counts [256]uint64, total uint64) { return d.acc, d.total }

// Sum appends the 32 bytes of the code in the published order to b and leaves the digest as it is.
func (d *Digest) Sum(b []byte) []byte {
	code := d.Code().Bytes()
	return append(b, code[:]...)
}

// Reset makes the digest empty.
func (d *Digest) Reset() { *d = Digest{} }

// Size returns the number of bytes that Sum appends: 32.
func (d *Digest) Size() int { return Size }

// BlockSize returns 1: the digest has no blocks.
func (d *Digest) BlockSize() int { return 1 }
