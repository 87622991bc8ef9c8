package nilsimsa

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
)

// Size is the length of a code in bytes. Its published form has twice as many hexadecimal digits.
const Size = 32

// ErrCode is what Parse and ParseTail return, wrapped with the text, for a string that is no code.
var ErrCode = errors.New("not a Nilsimsa code of 64 hexadecimal digits")

// A Code is a Nilsimsa code of 256 bits. Word k holds bits 64k to 64k+63: bit i of the code is bit i&63 of word i>>6.
type Code [4]uint64

// Similarity is the published score of two codes: 128 less the number of bits that differ. It is 128 for equal codes, 0 on
// average for random ones (standard deviation 8), -128 for opposite ones. The codes of two unrelated texts of ordinary
// length score well above 0, since all texts of a language fill the same buckets.
func (c Code) Similarity(d Code) int {
	return 128 - bits.OnesCount64(c[0]^d[0]) - bits.OnesCount64(c[1]^d[1]) -
		bits.OnesCount64(c[2]^d[2]) - bits.OnesCount64(c[3]^d[3])
}

// Bytes returns the code in the published order: the 256 bits as one big-endian number, bit 255 first.
func (c Code) Bytes() [Size]byte {
	var b [Size]byte
	for k, word := range c {
		binary.BigEndian.PutUint64(b[Size-8-8*k:], word)
	}
	return b
}

// String returns the code as the original program prints it: 64 lower-case hexadecimal digits.
func (c Code) String() string {
	b := c.Bytes()
	return hex.EncodeToString(b[:])
}

// Parse reads a code of exactly 64 hexadecimal digits of either case. Any other text is an ErrCode.
func Parse(s string) (Code, error) {
	if len(s) != 2*Size {
		return Code{}, fmt.Errorf("%q: %w", clip(s), ErrCode)
	}
	return ParseTail(s)
}

// ParseTail reads a code as the original program reads an argument: 64 hexadecimal digits of either case or more, of which
// the last 64 count. Any other text is an ErrCode.
func ParseTail(s string) (Code, error) {
	if len(s) < 2*Size {
		return Code{}, fmt.Errorf("%q: %w", clip(s), ErrCode)
	}
	var c Code
	for i := range len(s) {
		digit, ok := hexDigit(s[i])
		if !ok {
			return Code{}, fmt.Errorf("%q: %w", clip(s), ErrCode)
		}
		c[3] = c[3]<<4 | c[2]>>60
		c[2] = c[2]<<4 | c[1]>>60
		c[1] = c[1]<<4 | c[0]>>60
		c[0] = c[0]<<4 | digit
	}
	return c, nil
}

func hexDigit(b byte) (uint64, bool) {
	switch {
	case '0' <= b && b <= '9':
		return uint64(b - '0'), true
	case 'a' <= b && b <= 'f':
		return uint64(b-'a') + 10, true
	case 'A' <= b && b <= 'F':
		return uint64(b-'A') + 10, true
	}
	return 0, false
}

// clip keeps an error message from repeating a whole file that was given in place of a code.
func clip(s string) string {
	if len(s) > 3*Size {
		return s[:3*Size] + "..."
	}
	return s
}
