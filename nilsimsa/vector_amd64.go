package nilsimsa

import "golang.org/x/sys/cpu"

// vector says whether the kernel of AVX-512 VBMI is used.
var vector = cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BW

// countAVX512 counts the hashes in t.hashes[0] and those of all blocks of text but the first: text is 4 bytes to look back at
// and n blocks of 64, n at least 1. The hits of bucket i are then t.banks[0][i].
//
//go:noescape
func countAVX512(t *tally, text *byte, n int)
