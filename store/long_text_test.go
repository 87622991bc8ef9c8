package store

import (
	"math/rand/v2"
	"strings"
	"testing"

	"spamsim/parse"
)

// madeUp is a text of n octets and a little, of long words that nobody else has: it is quick to read.
func madeUp(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		for range 100 + r.IntN(200) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// wordsTaken is the trace of a text.
func wordsTaken(text string) *Trace {
	return NewTrace(&parse.Message{Blocks: []parse.Block{{Kind: parse.Body, Text: text}}})
}

// TestLongTextIsBounded: features are made of so much of a text alone, and of a text without spaces too.
func TestLongTextIsBounded(t *testing.T) {
	head := madeUp(wordsOf, 1)
	want, got := wordsTaken(head), wordsTaken(head+madeUp(1<<16, 2))
	if got.SimHash != want.SimHash || got.Tokens != want.Tokens || len(got.features) != len(want.features) {
		t.Errorf("%d features of %d words, want the %d of the first MiB", len(got.features), got.Tokens, len(want.features))
	}
	if got.Nilsimsa == want.Nilsimsa {
		t.Error("the Nilsimsa code is not of all of the text")
	}
	got, want = wordsTaken("a"+strings.Repeat("ж", wordsOf/2)), wordsTaken("a"+strings.Repeat("ж", wordsOf/2-1))
	if got.Tokens != 1 || got.SimHash != want.SimHash {
		t.Errorf("%d words in a long text without spaces, or the last letter that fits is cut", got.Tokens)
	}
}
