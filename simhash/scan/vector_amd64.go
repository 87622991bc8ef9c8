package scan

import "golang.org/x/sys/cpu"

// vector says whether there are kernels: those of AVX2, which every processor with AVX-512 has too.
var vector = cpu.X86.HasAVX2

// readAVX2 reads n blocks, n at least 1, and returns the OR of their words. It neither compares nor fetches ahead, which
// makes it the measure of what reading alone costs.
//
//go:noescape
func readAVX2(blocks *block, n int) uint64

// nearerAVX2 returns which of n blocks, n at least 1, is the first with a code that differs from code in fewer than distance
// bits, and n where none is.
//
//go:noescape
func nearerAVX2(blocks *block, n int, code *[4]uint64, distance int) int

// spreadAVX2 spreads the codes of a chunk out by groups of four bits.
//
//go:noescape
func spreadAVX2(blocks *[step]block, out *nibbles)

// belowAVX2 compares a chunk with four times fours queries, fours 1 to batch/4. Bit i of the result is set where a code's
// distance from query i, modulo 256, is less than limits[i]. Meanwhile it fetches the blocks from next on.
//
//go:noescape
func belowAVX2(codes *nibbles, queries *tables, limits *[batch]uint8, fours int, next *block) uint64
