package store

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
)

// boilerplate is what mail programs say, a program a line: reports of delivery (Postfix, Exim, Sendmail, qmail, Exchange,
// Gmail), read receipts, invitations. Messages that have it in common are no copies of one another.
//
//go:embed boilerplate.txt
var boilerplate string

// minRun is how many pairs of words in a row make a run of boilerplate: any mail may have a few.
const minRun = 6

// A pairSet holds pairs of words by some bits of their hashes. That one in forty others seems to be among them does no
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
		for _, h := range pairHashes(parse.AppendTokens(nil, parse.Fold(line))) {
			s.add(h)
		}
	}
	return s
})

// pairHashes returns the hash of each word with the next.
func pairHashes(words []string) []uint64 {
	out := make([]uint64, 0, len(words))
	last := uint64(0)
	for i, w := range words {
		h := xxhash.Sum64String(w)
		if i > 0 {
			out = append(out, mix(last*0x9e3779b97f4a7c15+h))
		}
		last = h
	}
	return out
}

// ownWords returns the words without the runs of boilerplate, in place.
func ownWords(words []string) []string {
	set, pairs := boilerplatePairs(), pairHashes(words)
	out, run := words[:0], 0
	for i, w := range words {
		if i < len(pairs) && set.has(pairs[i]) {
			run++
		} else {
			if run >= minRun {
				out = out[:len(out)-run] // its words, but for this last one
				run = 0
				continue
			}
			run = 0
		}
		out = append(out, w)
	}
	return out
}
