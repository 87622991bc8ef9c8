//go:build !race

package parse

// perOctet is how many octets TestBigBombs lets Parse allocate for one of input.
const perOctet = 4
