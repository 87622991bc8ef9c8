package store

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Rising numbers, by their steps in a Golomb-Rice code (Rice 1979; Golomb 1966): of each step the high bits as so many ones
// and a zero, then the low bits as they are, the lowest first. Numbers drawn at random take about 1.6 bits more than the
// logarithm of their mean step.

// riceLow is how many low bits of a step are written as they are, where n numbers lie below 1<<span.
func riceLow(n, span int) int { return max(0, span-bits.Len(uint(n))) }

// appendRice writes numbers below 1<<span, in rising order, behind out.
func appendRice(out []byte, rising []uint32, span int) []byte {
	low := riceLow(len(rising), span)
	from := len(out)
	out = slices.Grow(out, len(rising)*(low+3)/8+16) // the high bits of the steps sum to two for each number at most
	b := out[:cap(out)]
	var word uint64 // bits that are not in b yet
	have, last := 0, uint32(0)
	flush := func() {
		binary.LittleEndian.PutUint64(b[from:], word)
		from += have / 8
		word, have = word>>(have&^7), have&7
	}
	for _, x := range rising {
		step := uint64(x - last)
		last = x
		for ; step>>low >= 24; step -= 24 << low {
			word |= (1<<24 - 1) << have
			have += 24
			flush()
		}
		ones := int(step >> low)
		word |= (1<<ones - 1) << have
		word |= step & (1<<low - 1) << (have + ones + 1)
		have += ones + 1 + low
		flush()
	}
	if have > 0 {
		b[from] = byte(word)
		from++
	}
	return b[:from]
}

// ricePad is how many octets must lie behind those that readRice reads.
const ricePad = 8

// readRice appends n numbers below 1<<span to out, as appendRice wrote them, and returns how many octets they took, or
// those of data where they would take more.
func readRice(out []uint32, data []byte, n, span int) ([]uint32, int) {
	low := riceLow(n, span)
	mask, last := uint64(1)<<low-1, uint32(0)
	at, end := 0, 8*(len(data)-ricePad) // bits
	for range n {
		step := uint32(0)
		for at < end {
			word := binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7)
			if ones := bits.TrailingZeros64(^word); ones < 32 {
				step += uint32(ones)
				at += ones + 1
				break
			}
			step += 32
			at += 32
		}
		if at < end {
			word := binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7)
			step = step<<low | uint32(word&mask)
			at += low
		}
		last += step
		out = append(out, last)
	}
	return out, min((at+7)/8, len(data)-ricePad)
}
