//go:build race

package parse

// perOctet is how many octets TestBigBombs lets Parse allocate for one of input. Under the race detector the compiler keeps
// fewer values off the heap.
const perOctet = 8
