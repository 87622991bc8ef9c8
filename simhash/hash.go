// Package simhash computes Charikar's fingerprints of weighted features (Charikar 2002, Similarity Estimation Techniques from
// Rounding Algorithms; for documents: Manku, Jain and Das Sarma 2007) and finds those within a few bits of each other.
//
// Each feature has a hash; each of its bits votes with the feature's weight, for where it is 1, against where it is 0; a bit of
// the fingerprint is the sign of the votes' sum. Sets that share most of their weight so share most of their bits.
package simhash

import "github.com/cespare/xxhash/v2"

// A Tie says what a bit is whose votes sum to zero. Published implementations differ in it.
type Tie uint8

// The two rules. They differ for documents of an even number of equal weights, above all for the empty one: its fingerprint
// is zero by TieClear and all ones by TieSet, and two empty documents are at distance 0 by either, so a caller must not
// take a document without features for the copy of another.
const (
	TieClear Tie = iota // a bit is 1 where the sum is > 0: what the C++ example and Java's hashCode example do
	TieSet              // a bit is 1 where the sum is >= 0: what the Python and Java BigInteger examples do
)

// A Hash sums the votes of features. The zero value is ready for use. The fingerprints of 64 and 128 bits are the first
// words of that of 256 bits.
type Hash struct {
	votes [4]counters // of the bits that are 1; those against are weight less these
	ledger
}

// Add adds a feature by its 64-bit hash. The hash must be a good one such as xxhash, since it is the first word of what votes;
// the other three words are derived from it. Weights from 0 to 255 are fast; others, negative ones too, take about
// ten times as long. The magnitudes of all weights must sum to less than 2^62.
func (h *Hash) Add(feature uint64, weight int) {
	h.add(feature, derive(feature, 0), derive(feature, 1), derive(feature, 2), weight)
}

// AddString adds a feature by its text, hashed with xxhash.
func (h *Hash) AddString(feature string, weight int) { h.Add(xxhash.Sum64String(feature), weight) }

// AddWords adds a feature by a hash of up to 256 bits of the caller's own, word 0 first. Adding the fingerprints of
// several documents with weight 1 so yields their bitwise majority.
func (h *Hash) AddWords(hash [4]uint64, weight int) {
	h.add(hash[0], hash[1], hash[2], hash[3], weight)
}

func (h *Hash) add(w0, w1, w2, w3 uint64, weight int) {
	w, narrow := h.take(h.votes[:], weight)
	if !narrow {
		for k, word := range [4]uint64{w0, w1, w2, w3} {
			h.votes[k].addWide(word, int64(weight))
		}
		return
	}
	h.votes[0].add(w0, w)
	h.votes[1].add(w1, w)
	h.votes[2].add(w2, w)
	h.votes[3].add(w3, w)
}

// Reset takes all features back.
func (h *Hash) Reset() { *h = Hash{} }

// Code64 returns the fingerprint of 64 bits. More features may follow.
func (h *Hash) Code64(t Tie) uint64 { return h.votes[0].signs(h.sum, t) }

// Code128 returns the fingerprint of 128 bits. More features may follow.
func (h *Hash) Code128(t Tie) Code128 {
	return Code128{h.votes[0].signs(h.sum, t), h.votes[1].signs(h.sum, t)}
}

// Code256 returns the fingerprint of 256 bits. More features may follow.
func (h *Hash) Code256(t Tie) (c Code256) {
	for k := range c {
		c[k] = h.votes[k].signs(h.sum, t)
	}
	return c
}

// A Hash64 is a [Hash] for those who want 64 bits alone: the same, at a third of the cost. The zero value is ready for use.
type Hash64 struct {
	votes [1]counters
	ledger
}

// Add adds a feature by its 64-bit hash, as [Hash.Add] does.
func (h *Hash64) Add(feature uint64, weight int) {
	w, narrow := h.take(h.votes[:], weight)
	if !narrow {
		h.votes[0].addWide(feature, int64(weight))
		return
	}
	h.votes[0].add(feature, w)
}

// AddAll adds features of the same weight. Those of weights from 0 to 31 are added eight at a time, which is three times as fast.
func (h *Hash64) AddAll(features []uint64, weight int) {
	if weight >= 0 && weight <= maxByte/8 {
		var t tallies
		for ; len(features) >= 8; features = features[8:] {
			h.Add(t.add((*[8]uint64)(features)), 8*weight)
		}
		for i, word := range t {
			h.Add(word, weight<<i)
			h.sum -= int64(weight) << i // these features came with their eights
		}
	}
	for _, f := range features {
		h.Add(f, weight)
	}
}

// Code64 returns the fingerprint. More features may follow.
func (h *Hash64) Code64(t Tie) uint64 { return h.votes[0].signs(h.sum, t) }
