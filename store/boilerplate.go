package store

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
)

// boilerplate is what mail programs say, a program a line: reports of delivery (Postfix, Exim, Sendmail, qmail, Exchange,
// Office 365, Gmail), read receipts, invitations. Messages that have it in common are no copies of one another.
//
//go:embed boilerplate.txt
var boilerplate string

// minRun is how many pairs of words in a row make a run of boilerplate: any mail may have a few.
const minRun = 6

// A pairSet holds pairs of words by some bits of their hashes. That one in thirty-five others seems to be among them does no
// harm where minRun are wanted.
type pairSet [1 << 10]uint64

func (s *pairSet) bit(h uint64) (word *uint64, mask uint64) { return &s[h>>54], 1 << (h >> 48 & 63) }

func (s *pairSet) add(h uint64) {
	word, mask := s.bit(h)
	*word |= mask
}

func (s *pairSet) has(h uint64) bool {
	word, mask := s.bit(h)
	return *word&mask != 0
}

var boilerplatePairs = sync.OnceValue(func() *pairSet {
	s := &pairSet{}
	for line := range strings.Lines(boilerplate) {
		hashes := wordHashes(nil, parse.AppendTokens(nil, parse.Fold(line)))
		for i := range len(hashes) - 1 {
			s.add(pairHash(hashes[i], hashes[i+1]))
		}
	}
	return s
})

// wordHashes appends the hash of each word.
func wordHashes(to []uint64, words []string) []uint64 {
	for _, w := range words {
		to = append(to, xxhash.Sum64String(w))
	}
	return to
}

func pairHash(a, b uint64) uint64 { return mix(a*0x9e3779b97f4a7c15 + b) }

// ownWords returns the words, and their hashes, without the runs of boilerplate, in place.
func ownWords(words []string, hashes []uint64) ([]string, []uint64) {
	set := boilerplatePairs()
	n, run := 0, 0 // how many are left, and how many of the last ones begin a pair of boilerplate
	for i := range words {
		if i+1 < len(words) && set.has(pairHash(hashes[i], hashes[i+1])) {
			run++
		} else {
			if run >= minRun {
				n -= run // its words, but for this last one
				run = 0
				continue
			}
			run = 0
		}
		words[n], hashes[n] = words[i], hashes[i]
		n++
	}
	return words[:n], hashes[:n]
}
