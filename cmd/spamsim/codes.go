package main

import (
	"spamsim/nilsimsa"
	"spamsim/parse"
	"spamsim/store"
)

// codes are both codes of a text.
type codes struct {
	nilsimsa nilsimsa.Code
	simhash  uint64
	known    bool // simhash is there: it is not of a code that was given in place of a file
}

// codesOf computes the codes of the bytes as they are, or of the text that is judged when they are a message. SimHash
// is in both cases that of the words, since it is a code of features and not of bytes: of the first MiB, as the store takes
// them.
func codesOf(raw []byte, mail bool) codes {
	if mail {
		t := store.NewTrace(parse.Parse(raw, parse.Limits{}))
		return codes{t.Nilsimsa, t.SimHash, true}
	}
	t := store.NewTrace(&parse.Message{Blocks: []parse.Block{{Kind: parse.Body, Text: string(raw)}}})
	return codes{nilsimsa.Sum(raw), t.SimHash, true}
}
