package main

import (
	"errors"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/milter/filter"
	"spamsim/nilsimsa"
	"spamsim/simhash"
)

var kindWords = [...]string{"clean", "bulk", "abstain", "exempt", "skipped", "error"}

func kindWord(k filter.Kind) string { return kindWords[k] }

func subjectOf(raw []byte) string {
	_, s, _ := strings.Cut(string(raw), "Subject: ")
	s, _, _ = strings.Cut(s, "\r\n")
	return s
}

func codesOf(raw []byte, mail bool) codes {
	return codes{nilsimsa: nilsimsa.Sum(raw), known: true}
}

func labelWord(l filter.Label) string { return [...]string{"none", "spam", "ham"}[l] }

func pass(conf *config.Loaded, kind filter.Kind, reason string) filter.Judgement {
	return filter.Judgement{Verdict: filter.Verdict{Kind: kind, Reason: reason},
		Add:   []filter.Field{{Name: "X-Spamsim", Value: " " + kindWord(kind) + "; reason=" + reason}},
		Strip: []string{"X-Spamsim"},
	}
}

var errInUse = errors.New("landing")

func textOf(raw []byte) (string, uint64) {
	text := strings.ToLower(string(raw))
	var h simhash.Hash
	words := strings.Fields(text)
	for i, w := range words {
		h.AddString(w, 1)
		if i > 0 {
			h.AddString(words[i-1]+" "+w, 1)
		}
	}
	return text, h.Code64(simhash.TieClear)
}
