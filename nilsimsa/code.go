package nilsimsa

// A Code is a Nilsimsa code of 256 bits. Word k holds bits 64k to 64k+63: bit i of the code is bit i&63 of word i>>6.
type Code [4]uint64
