package main

import (
	"spamsim/milter/filter"
	"spamsim/nilsimsa"
)

var kindWords = [...]string{"clean", "bulk", "abstain", "exempt", "skipped", "error"}

func kindWord(k filter.Kind) string { return kindWords[k] }

func subjectOf(raw []byte) string { return "" }

func codesOf(raw []byte, mail bool) codes {
	return codes{nilsimsa: nilsimsa.Sum(raw), known: true}
}
