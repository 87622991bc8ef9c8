package store

import (
	"encoding/binary"
	"math/bits"
)

// Rising numbers, by their steps in a Golomb-Rice code (Rice 1979; Golomb 1966): of each step the high bits as so many ones
// and a zero, then the low bits as they are, the lowest first. Numbers drawn at random take about 1.6 bits more than the
// logarithm of their mean step.

// riceLow is how many low bits of a step are written as they are, where n numbers lie below 1<<span.
func riceLow(n, span int) int { return max(0, span-bits.Len(uint(n))) }

// appendRice writes numbers below 1<<span, in rising order, behind out.
func appendRice(out []byte, rising []uint32, span int) []byte {
	low := riceLow(len(rising), span)
	var word uint64 // bits that are not in out yet
	have, last := 0, uint32(0)
	for _, x := range rising {
		step := uint64(x - last)
		last = x
		for ; step>>low >= 24; step -= 24 << low {
			out = binary.LittleEndian.AppendUint32(out, uint32(word|(1<<24-1)<<have))
			out, word = out[:len(out)-1], (word|(1<<24-1)<<have)>>24
		}
		ones := int(step >> low)
		word |= (1<<ones - 1) << have
		have += ones + 1
		for ; have >= 8; have -= 8 {
			out, word = append(out, byte(word)), word>>8
		}
		word |= step & (1<<low - 1) << have
		for have += low; have >= 8; have -= 8 {
			out, word = append(out, byte(word)), word>>8
		}
	}
	if have > 0 {
		out = append(out, byte(word))
	}
	return out
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
