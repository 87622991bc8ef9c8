package store

import "math/bits"

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
	push := func(v uint64, n int) {
		word |= v << have
		for have += n; have >= 8; have -= 8 {
			out, word = append(out, byte(word)), word>>8
		}
	}
	for _, x := range rising {
		step := uint64(x - last)
		last = x
		for ones := step >> low; ; ones -= 32 {
			if ones < 32 {
				push(1<<ones-1, int(ones)+1)
				break
			}
			push(1<<32-1, 32)
		}
		push(step&(1<<low-1), low)
	}
	if have > 0 {
		out = append(out, byte(word))
	}
	return out
}

// readRice appends n numbers below 1<<span to out, as appendRice wrote them, and returns how many octets they took. What is
// missing of data is read as zeros.
func readRice(out []uint32, data []byte, n, span int) ([]uint32, int) {
	low := riceLow(n, span)
	var word uint64
	have, at, last := 0, 0, uint32(0)
	fill := func() {
		for ; have <= 56; have += 8 {
			if at < len(data) {
				word |= uint64(data[at]) << have
			}
			at++
		}
	}
	for range n {
		step := uint32(0)
		for {
			fill()
			ones := min(bits.TrailingZeros64(^word), have)
			step += uint32(ones)
			if ones < have {
				word, have = word>>(ones+1), have-ones-1
				break
			}
			word, have = 0, 0
		}
		fill()
		step = step<<low | uint32(word&(1<<low-1))
		word, have = word>>low, have-low
		last += step
		out = append(out, last)
	}
	return out, at - have/8
}
