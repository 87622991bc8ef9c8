//go:build !amd64

package scan

// There are no kernels for this processor, and these are never called.
const vector, wide = false, false

func readAVX2(*block, int) uint64                                    { panic("no AVX2") }
func nearerAVX2(*block, int, *[4]uint64, int) int                    { panic("no AVX2") }
func spreadAVX2(*[step]block, *nibbles)                              { panic("no AVX2") }
func belowAVX2(*nibbles, *tables, *[batch]uint8, int, *block) uint64 { panic("no AVX2") }

func readAVX512(*block, int) uint64                 { panic("no AVX-512") }
func nearerAVX512(*block, int, *[4]uint64, int) int { panic("no AVX-512") }
func belowAVX512(*[step]block, *[batch][4]uint64, *[batch]uint64, int, *block) uint64 {
	panic("no AVX-512")
}
