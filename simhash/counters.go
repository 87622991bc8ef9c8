package simhash

import "math/bits"

// The votes of 64 bits are counted in the eight bytes ("lanes") of eight words at a time: shifting a hash right by j
// and keeping the lowest bit of each byte leaves bits j, j+8, ... j+56 in one lane each, ready to be multiplied by the weight
// and added. When a lane might overflow, all lanes are added to counters of 16 bits, and these in turn to counters of
// 64 bits. A feature of 256 bits so takes 21 ns, a loop over its bits 1,800 (BenchmarkCode256, BenchmarkPlain256; Zen 3).
const (
	maxByte = 1<<8 - 1
	maxWord = 1<<16 - 1

	lowBits  = 0x0101010101010101
	lowBytes = 0x00ff00ff00ff00ff
)

// counters hold the votes for each of 64 bits in three tiers, whose sum counts. Bit 8i+j is
//
//	byte i of lanes[j]
//	16-bit field i/2 of wide[j][i&1]
//	votes[8i+j]
type counters struct {
	lanes [8]uint64
	wide  [8][2]uint64
	votes [64]int64
}

// add adds a weight, at most maxByte, to each bit that is set in word.
func (c *counters) add(word, weight uint64) {
	c.lanes[0] += (word & lowBits) * weight
	word >>= 1
	c.lanes[1] += (word & lowBits) * weight
	word >>= 1
	c.lanes[2] += (word & lowBits) * weight
	word >>= 1
	c.lanes[3] += (word & lowBits) * weight
	word >>= 1
	c.lanes[4] += (word & lowBits) * weight
	word >>= 1
	c.lanes[5] += (word & lowBits) * weight
	word >>= 1
	c.lanes[6] += (word & lowBits) * weight
	word >>= 1
	c.lanes[7] += (word & lowBits) * weight
}

// addWide adds any weight.
func (c *counters) addWide(word uint64, weight int64) {
	for ; word != 0; word &= word - 1 {
		c.votes[bits.TrailingZeros64(word)] += weight
	}
}

// spillBytes moves the first tier into the second.
func (c *counters) spillBytes() {
	for j, lane := range c.lanes {
		c.wide[j][0] += lane & lowBytes
		c.wide[j][1] += lane >> 8 & lowBytes
	}
	c.lanes = [8]uint64{}
}

// spillWords moves the second tier into the third.
func (c *counters) spillWords() {
	for i := range c.votes {
		c.votes[i] += c.wideVotes(i)
	}
	c.wide = [8][2]uint64{}
}

func (c *counters) wideVotes(bit int) int64 {
	i, j := bit>>3, bit&7
	return int64(c.wide[j][i&1] >> (16 * (i >> 1)) & maxWord)
}

// totals returns the votes for each bit.
func (c *counters) totals() [64]int64 {
	total := c.votes
	for bit := range total {
		i, j := bit>>3, bit&7
		total[bit] += int64(c.lanes[j]>>(8*i)&maxByte) + c.wideVotes(bit)
	}
	return total
}

// signs returns a word of the fingerprint, where all weights sum to sum: a bit's votes for less its votes against.
func (c *counters) signs(sum int64, t Tie) (word uint64) {
	for i, votes := range c.totals() {
		if s := 2*votes - sum; s > 0 || s == 0 && t == TieSet {
			word |= 1 << i
		}
	}
	return word
}

// A ledger knows how full the tiers of some counters are that are added to alike.
type ledger struct {
	bytes uint64 // sum of weights held in the byte counters, at most maxByte
	words uint64 // sum of weights held in the 16-bit counters, at most maxWord
	sum   int64  // of all weights
}

// take makes room for a weight in the byte counters; it is narrow if it fits there at all.
func (l *ledger) take(votes []counters, weight int) (w uint64, narrow bool) {
	l.sum += int64(weight)
	w = uint64(weight)
	if w > maxByte { // or negative
		return 0, false
	}
	if l.bytes+w > maxByte {
		l.spill(votes)
	}
	l.bytes += w
	return w, true
}

// spill empties the byte counters into the 16-bit ones, and those into the widest before they can overflow.
func (l *ledger) spill(votes []counters) {
	if l.words+l.bytes > maxWord {
		for k := range votes {
			votes[k].spillWords()
		}
		l.words = 0
	}
	for k := range votes {
		votes[k].spillBytes()
	}
	l.words += l.bytes
	l.bytes = 0
}

// Tallies count for each of 64 bits in how many words it is set, modulo 8: word i has bit i of each count (Warren, Hacker's
// Delight 2013, section 5-1).
type tallies [3]uint64

// add adds eight words and returns the bits whose counts overflow.
func (t *tallies) add(w *[8]uint64) (eights uint64) {
	ones, a := carry(t[0], w[0], w[1])
	ones, b := carry(ones, w[2], w[3])
	twos, c := carry(t[1], a, b)
	ones, a = carry(ones, w[4], w[5])
	ones, b = carry(ones, w[6], w[7])
	twos, d := carry(twos, a, b)
	fours, eights := carry(t[2], c, d)
	*t = tallies{ones, twos, fours}
	return eights
}

// carry adds three words bit by bit.
func carry(a, b, c uint64) (sum, carry uint64) {
	u := a ^ b
	return u ^ c, a&b | u&c
}

// derive returns word n+1 of a feature's hash, n from 0 to 2: the two halves of a 128-bit product, XORed, which mixes well enough
// for bits that vote (a test holds all pairs of the 256 against chance) at a fraction of the cost of three more runs of
// xxhash. Features whose 64-bit hashes are equal vote alike in all words; among 10^8 features no such pair is expected.
//
// The keys are arbitrary: the fractions of the golden ratio and of the roots of 2, 3, 5, 6 and 7, made odd.
func derive(feature uint64, n int) uint64 {
	hi, lo := bits.Mul64(feature^deriveKeys[n][0], deriveKeys[n][1])
	return hi ^ lo
}

var deriveKeys = [3][2]uint64{
	{0x9e3779b97f4a7c15, 0x6a09e667f3bcc909},
	{0xbb67ae8584caa73b, 0x3c6ef372fe94f82b},
	{0x7311c2812425cfa1, 0xa54ff53a5f1d36f1},
}
