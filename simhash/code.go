package simhash

import (
	"fmt"
	"math/bits"
)

// A fingerprint of 64 bits is a plain uint64. Bit i of a wider one is bit i&63 of word i>>6.

// A Code128 is a fingerprint of 128 bits. Word k holds bits 64k to 64k+63.
type Code128 [2]uint64

// A Code256 is a fingerprint of 256 bits. Word k holds bits 64k to 64k+63.
type Code256 [4]uint64

// Distance is the Hamming distance of two fingerprints: the number of bits that differ, 0 to 64. With features drawn at random
// its mean share of the bits is the angle between the two weighted feature sets, over pi (Charikar 2002, section 3).
func Distance(a, b uint64) int { return bits.OnesCount64(a ^ b) }

// Distance is the number of bits that differ, 0 to 128.
func (c Code128) Distance(d Code128) int {
	return bits.OnesCount64(c[0]^d[0]) + bits.OnesCount64(c[1]^d[1])
}

// Distance is the number of bits that differ, 0 to 256.
func (c Code256) Distance(d Code256) int {
	return bits.OnesCount64(c[0]^d[0]) + bits.OnesCount64(c[1]^d[1]) +
		bits.OnesCount64(c[2]^d[2]) + bits.OnesCount64(c[3]^d[3])
}

// String returns the fingerprint as one big-endian number: 32 lower-case hexadecimal digits.
func (c Code128) String() string { return fmt.Sprintf("%016x%016x", c[1], c[0]) }

// String returns the fingerprint as one big-endian number: 64 lower-case hexadecimal digits.
func (c Code256) String() string {
	return fmt.Sprintf("%016x%016x%016x%016x", c[3], c[2], c[1], c[0])
}
