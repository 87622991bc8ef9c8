package main

import "spamsim/milter/filter"

var kindWords = [...]string{"clean", "bulk", "abstain", "exempt", "skipped", "error"}

func kindWord(k filter.Kind) string { return kindWords[k] }

func subjectOf(raw []byte) string { return "" }
