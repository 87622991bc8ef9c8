package simhash

// A Code256 is a fingerprint of 256 bits. Word k holds bits 64k to 64k+63.
type Code256 [4]uint64
