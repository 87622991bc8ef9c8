package store

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
)

// commonWords are those of which letters in other languages than the shipped background's are full, a language a line: articles,
// pronouns, prepositions, and what one begins and ends letters with. Strangers who write German have them in common.
//
//go:embed common.txt
var commonWords string

// A wordSet holds words by bits of their hashes (Bloom 1970): one in thousands of others seems to be among them.
type wordSet [1 << 11]uint64

// probes are how many bits a word has.
const probes = 3

func (s *wordSet) add(h uint64) {
	for range probes {
		s[h>>6%(1<<11)] |= 1 << (h & 63)
		h >>= 17
	}
}

func (s *wordSet) has(h uint64) bool {
	for range probes {
		if s[h>>6%(1<<11)]>>(h&63)&1 == 0 {
			return false
		}
		h >>= 17
	}
	return true
}

// plain tells whether a word is one of them.
func plain(word string) bool { return plainWords().has(xxhash.Sum64String(word)) }

var plainWords = sync.OnceValue(func() *wordSet {
	s := &wordSet{}
	for line := range strings.Lines(commonWords) { // in a text that is mostly Latin the Russian "не" would be folded to a Latin word
		for _, h := range wordHashes(nil, parse.AppendTokens(nil, parse.Fold(line))) {
			s.add(h)
		}
	}
	return s
})
