package simhash

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Features of a message and their weights, as an IDF table would give them.
func benchFeatures(n int) ([]uint64, []int) {
	r := rand.New(rand.NewPCG(5, 6))
	features, weights := make([]uint64, n), make([]int, n)
	for i := range features {
		features[i], weights[i] = r.Uint64(), 1+r.IntN(10)
	}
	return features, weights
}

// A message has about 500 features. SetBytes counts 8 bytes a feature.
func BenchmarkCode256(b *testing.B) {
	for _, n := range []int{5, 50, 500, 5000, 50000} {
		features, weights := benchFeatures(n)
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			b.SetBytes(int64(8 * n))
			b.ReportAllocs()
			var code Code256
			for b.Loop() {
				var h Hash
				for i, f := range features {
					h.Add(f, weights[i])
				}
				code = h.Code256(TieClear)
			}
			if code == (Code256{}) {
				b.Error("an empty fingerprint")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/feature")
		})
	}
}

// BenchmarkCode64 is for comparison with BenchmarkCode256/500.
func BenchmarkCode64(b *testing.B) {
	features, weights := benchFeatures(500)
	b.SetBytes(8 * 500)
	b.ReportAllocs()
	var code uint64
	for b.Loop() {
		var h Hash64
		for i, f := range features {
			h.Add(f, weights[i])
		}
		code = h.Code64(TieClear)
	}
	if code == 0 {
		b.Error("an empty fingerprint")
	}
}

// BenchmarkAddAll is for comparison with BenchmarkCode64.
func BenchmarkAddAll(b *testing.B) {
	features, _ := benchFeatures(500)
	b.SetBytes(8 * 500)
	b.ReportAllocs()
	var code uint64
	for b.Loop() {
		var h Hash64
		h.AddAll(features, 2)
		code = h.Code64(TieClear)
	}
	if code == 0 {
		b.Error("an empty fingerprint")
	}
}

// The loop over the bits, to compare with.
func BenchmarkPlain256(b *testing.B) {
	const n = 500
	features, weights := benchFeatures(n)
	b.SetBytes(8 * n)
	b.ReportAllocs()
	wide := make([][4]uint64, n)
	for b.Loop() {
		for i, f := range features {
			wide[i] = [4]uint64{f, derive(f, 0), derive(f, 1), derive(f, 2)}
		}
		plainSum(wide, weights, TieClear)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/feature")
}

func BenchmarkAddString(b *testing.B) {
	var h Hash
	b.SetBytes(int64(len("two words")))
	b.ReportAllocs()
	for b.Loop() {
		h.AddString("two words", 3)
	}
	if h.Code64(TieClear) == 0 {
		b.Error("an empty fingerprint")
	}
}
