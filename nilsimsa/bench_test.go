package nilsimsa

import (
	"bytes"
	"fmt"
	"testing"
)

// benchText returns n bytes with the letters' skew of text: random bytes spread the hits of the buckets better than mail does.
func benchText(n int) []byte {
	const letters = "etaoinshrdlu etaoin etao et \netaoinshrdlucmfwypvbgkjqxz ETAOIN.,0"
	text := randomText(1, n)
	for i, b := range text {
		text[i] = letters[b&63]
	}
	return text
}

var sizes = []int{40, 512, 2 << 10, 16 << 10, 256 << 10}

func benchSizes(b *testing.B, path string, sum func([]byte) Code) {
	for _, size := range sizes {
		text := benchText(size)
		want := Plain(text)
		b.Run(fmt.Sprintf("%s/%dB", path, size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var got Code
			for b.Loop() {
				got = sum(text)
			}
			if got != want {
				b.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// BenchmarkSum takes the plain loop, which is held against the others, along in the same run: the ratio is what counts.
func BenchmarkSum(b *testing.B) {
	eachPath(func(path string) { benchSizes(b, path, Sum) })
	benchSizes(b, "plain", Plain)
}

// BenchmarkHash and BenchmarkCount take the two halves of Sum by words apart: no way of hashing makes it faster than counting is.
func BenchmarkHash(b *testing.B) {
	text := benchText(16 << 10)
	groups := make([][8 * group]byte, len(text)/group-1)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		hashGroups(text, groups)
	}
	if groups[0] == ([8 * group]byte{}) {
		b.Error("no hashes")
	}
}

func BenchmarkCount(b *testing.B) {
	text := benchText(16 << 10)
	groups := make([][8 * group]byte, len(text)/group-1)
	hashGroups(text, groups)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var acc, want [256]uint64
	for b.Loop() {
		acc = [256]uint64{}
		for i := range groups {
			countGroup(&acc, &groups[i])
		}
	}
	if lanes.countText(&want, text); acc != want {
		b.Errorf("counted %v, want %v", acc, want)
	}
}

func hashGroups(text []byte, groups [][8 * group]byte) {
	for i := range groups {
		lanes.hashGroup((*[2 * group]byte)(text[group*i:]), &groups[i])
	}
}

func BenchmarkSimilarity(b *testing.B) {
	x, y := Sum(benchText(1000)), Sum(randomText(2, 1000))
	b.ReportAllocs()
	sum := 0
	for b.Loop() {
		sum += x.Similarity(y)
	}
	if sum != b.N*x.Similarity(y) {
		b.Error(sum)
	}
}

// BenchmarkPastInt32 reads a text at whose end the original's sums have overflowed, and checks its code.
func BenchmarkPastInt32(b *testing.B) {
	block := benchText(1 << 20)
	n := pastInt32 / len(block)
	_, counts := farText(block, uint64(n))
	want := plainCode(counts)
	b.SetBytes(pastInt32)
	b.ReportAllocs()
	for b.Loop() {
		d := New()
		for range n {
			d.Write(block)
		}
		d.Write(block[:pastInt32%len(block)])
		if got := d.Code(); got != want {
			b.Fatalf("%v, want %v", got, want)
		}
	}
}

// BenchmarkWrite feeds lines, as a parser does.
func BenchmarkWrite(b *testing.B) {
	lines := bytes.SplitAfter(benchText(16<<10), []byte("\n"))
	b.SetBytes(16 << 10)
	b.ReportAllocs()
	d := New()
	for b.Loop() {
		d.Reset()
		for _, line := range lines {
			d.Write(line)
		}
	}
	if d.Code() == (Code{}) {
		b.Error("no bits set")
	}
}
