//go:build !amd64

package nilsimsa

// There is no kernel for this processor, and it is never called.
const vector = false

func countAVX512(*tally, *byte, int) { panic("no AVX-512") }
