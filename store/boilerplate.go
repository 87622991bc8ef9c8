package store

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
)

// boilerplate is what mail programs say, a program a line: reports of delivery (Postfix, Exim, Sendmail, qmail, Smail,
// Exchange, Office 365, Gmail), read receipts, invitations (Google, Teams, Zoom, Webex, GoTo); what gateways, scanners, fax machines
// and telephones write into mail, absence notes, and what services write around the mail of their customers; and the formulas of
// letters in scripts without spaces, a language a line. Messages that have it in common are no copies of one another.
//
//go:embed boilerplate.txt
var boilerplate string

// minRun is how many pairs of words in a row make a run of boilerplate: any mail may have a few.
const minRun = 6

// runOf is minRun where a word stands. Of signs and letters that are written without spaces a run of four, or of the letters of
// a word, is a formula: what people begin and end letters with.
func runOf(word string) int {
	if !isBigram(word) {
		return minRun
	}
	if first, _ := runes(word); spells(first) {
		return spelt(first) - 2
	}
	return 2
}

// maxGap is how many other words in a row may stand near a run, with more pairs behind or before them: a name, an address and
// the numbers of a host cut what a program says into pieces.
const maxGap = 8

// A pairSet holds pairs of words by some bits of their hashes. That one in a hundred and forty others seems to be among them does no
// harm where minRun are wanted, and little where two are (runOf).
type pairSet [1 << 14]uint64

func (s *pairSet) bit(h uint64) (word *uint64, mask uint64) { return &s[h>>50], 1 << (h >> 44 & 63) }

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

// pair tells whether the pair that the word at i begins is boilerplate.
func (s *pairSet) pair(hashes []uint64, i int) bool {
	return i+1 < len(hashes) && s.has(pairHash(hashes[i], hashes[i+1]))
}

// stretch returns how many words from the first one on belong together: pairs of boilerplate with at most maxGap other words in
// between, and the gap behind them. It is boilerplate where one run in it is.
func (s *pairSet) stretch(words []string, hashes []uint64) (n int, boilerplate bool) {
	run, last := 0, 0 // how many pairs in a row, and where the last one ends
	for i := range hashes {
		switch {
		case s.pair(hashes, i):
			run, last = run+1, i+2
			boilerplate = boilerplate || run >= runOf(words[i])
		case i+1-last > maxGap:
			return i + 1, boilerplate
		default:
			run = 0
		}
	}
	return len(hashes), boilerplate
}

// ownWords returns the words, and their hashes, without what is boilerplate, in place. Words in its gaps are the author's own.
func ownWords(words []string, hashes []uint64) ([]string, []uint64) {
	set := boilerplatePairs()
	n := 0 // how many are left
	for i := 0; i < len(words); {
		size, boilerplate := set.stretch(words[i:], hashes[i:])
		ends := false // whether the word ends a pair of boilerplate
		for end := i + size; i < end; i++ {
			begins := boilerplate && set.pair(hashes, i)
			if !begins && !ends {
				words[n], hashes[n] = words[i], hashes[i]
				n++
			}
			ends = begins
		}
	}
	return words[:n], hashes[:n]
}
