package scan

import "golang.org/x/sys/cpu"

// wide says whether the kernels of AVX-512 are used, before those of AVX2.
var wide = cpu.X86.HasAVX512VPOPCNTDQ && cpu.X86.HasAVX512DQ

// readAVX512 is readAVX2.
//
//go:noescape
func readAVX512(blocks *block, n int) uint64

// nearerAVX512 is nearerAVX2.
//
//go:noescape
func nearerAVX512(blocks *block, n int, code *[4]uint64, distance int) int

// belowAVX512 compares a chunk with n queries, n at least 1. Bit i of the result is set where a code's distance from query i is
// less than limits[i]. Meanwhile it fetches the blocks from next on.
//
//go:noescape
func belowAVX512(blocks *[step]block, queries *[batch][4]uint64, limits *[batch]uint64, n int, next *block) uint64
