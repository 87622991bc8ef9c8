package simhash

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf16"
)

// The token hashes and rules of published implementations, which the product does not need: what its sums and signs
// are checked with.

// A published algorithm hashes tokens to some bits, which vote by the rule of ties.
type published struct {
	bits int
	tie  Tie
	hash func(token string) [4]uint64
}

var publishedAlgos = map[string]published{
	"seed-python-128":       {128, TieSet, func(s string) [4]uint64 { return pyHash([]rune(s), 128) }},
	"seed-python-64":        {64, TieSet, func(s string) [4]uint64 { return pyHash([]rune(s), 64) }},
	"seed-java-128":         {128, TieSet, func(s string) [4]uint64 { return pyHash(utf16.Encode([]rune(s)), 128) }},
	"seed-java-64":          {64, TieSet, func(s string) [4]uint64 { return pyHash(utf16.Encode([]rune(s)), 64) }},
	"seed-java-hashCode-32": {32, TieClear, func(s string) [4]uint64 { return [4]uint64{uint64(javaHashCode(s))} }},
	"seed-cpp-murmur64a-w64": {64, TieClear, func(s string) [4]uint64 {
		return [4]uint64{murmur64A(s, 999999937)}
	}},
	"seed-cpp-murmur2-w32": {32, TieClear, func(s string) [4]uint64 {
		return [4]uint64{uint64(murmur2(s, 999999937))}
	}},
	"mfonda/go-dedup fnv1-64, ties->1": {64, TieSet, fnv1},
	"1e0ng md5-low64, bit=sum>count/2": {64, TieClear, md5Low64},
	"1e0ng md5-low64 weighted 50*i":    {64, TieClear, md5Low64},
}

// sum returns the fingerprint of tokens as hexadecimal digits. Weights come in quarters; nil means 1 each.
func (p published) sum(tokens []string, weights []float64) string {
	var h Hash
	for i, token := range tokens {
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		if weight != math.Trunc(4*weight)/4 {
			panic("a weight that is no quarter: " + strconv.FormatFloat(weight, 'g', -1, 64))
		}
		h.AddWords(p.hash(token), int(4*weight))
	}
	switch p.bits {
	case 128:
		return h.Code128(p.tie).String()
	case 64:
		return fmt.Sprintf("%016x", h.Code64(p.tie))
	}
	return fmt.Sprintf("%08x", uint32(h.Code64(p.tie)))
}

// pyHash is the string hash of Python 2 in so many bits, over code points or UTF-16 units. The Java examples took it over.
func pyHash[T rune | uint16](units []T, width int) [4]uint64 {
	if len(units) == 0 {
		return [4]uint64{}
	}
	const factor = 1000003
	lo, hi := uint64(units[0])<<7, uint64(0)
	for _, u := range units {
		carry, low := bits.Mul64(lo, factor)
		hi = hi*factor + carry
		lo = low ^ uint64(u)
	}
	lo ^= uint64(len(units))
	if width == 64 {
		hi = 0
	}
	return [4]uint64{lo, hi}
}

// pyHashMin3 is the word hash of the HanLP example: short words are padded with their first character.
func pyHashMin3(s string) uint64 {
	units := utf16.Encode([]rune(s))
	for len(units) > 0 && len(units) < 3 {
		units = append(units, units[0])
	}
	return pyHash(units, 64)[0]
}

// javaHashCode is Java's String.hashCode.
func javaHashCode(s string) uint32 {
	var h uint32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(u)
	}
	return h
}

// murmur64A is Appleby's MurmurHash64A.
func murmur64A(s string, seed uint64) uint64 {
	const m = 0xc6a4a7935bd1e995
	h := seed ^ uint64(len(s))*m
	p := []byte(s)
	for ; len(p) >= 8; p = p[8:] {
		k := binary.LittleEndian.Uint64(p) * m
		h = (h ^ (k^k>>47)*m) * m
	}
	if len(p) > 0 {
		var last [8]byte
		copy(last[:], p)
		h = (h ^ binary.LittleEndian.Uint64(last[:])) * m
	}
	h = (h ^ h>>47) * m
	return h ^ h>>47
}

// murmur2 is Appleby's MurmurHash2 of 32 bits.
func murmur2(s string, seed uint32) uint32 {
	const m = 0x5bd1e995
	h := seed ^ uint32(len(s))
	p := []byte(s)
	for ; len(p) >= 4; p = p[4:] {
		k := binary.LittleEndian.Uint32(p) * m
		h = h*m ^ (k^k>>24)*m
	}
	if len(p) > 0 {
		var last [4]byte
		copy(last[:], p)
		h = (h ^ binary.LittleEndian.Uint32(last[:])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// fnv1 is FNV-1 (not 1a), which mfonda's and go-dedup's packages use.
func fnv1(s string) [4]uint64 {
	h := fnv.New64()
	h.Write([]byte(s))
	return [4]uint64{h.Sum64()}
}

// md5Low64 is the last eight bytes of the MD5 sum, which 1e0ng's package uses.
func md5Low64(s string) [4]uint64 {
	sum := md5.Sum([]byte(s))
	return [4]uint64{binary.BigEndian.Uint64(sum[8:])}
}
