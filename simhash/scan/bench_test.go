package scan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func randomSet(n int) *Set {
	r := rand.New(rand.NewPCG(9, 10))
	s := &Set{blocks: make([]block, 0, (n+lanes-1)/lanes)}
	for range n {
		s.Add([4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()})
	}
	return s
}

// BenchmarkNearest searches sets from the second cache to far beyond the last. What reading alone costs is measured in turn
// with the searches, and the least time of each is reported beside the mean, since other users of the memory only add.
func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		s := randomSet(n)
		eachKernel(func(kernel string) {
			for _, queries := range []int{1, 4, 16} {
				b.Run(fmt.Sprintf("%s/%d/queries=%d", kernel, n, queries), func(b *testing.B) { benchNearest(b, s, queries) })
			}
		})
	}
}

func benchNearest(b *testing.B, s *Set, queries int) {
	n := s.Len()
	codes, hits := make([][4]uint64, queries), make([]Hit, queries)
	for i := range codes {
		codes[i] = s.At((i + 1) * n / (queries + 1))
		codes[i][0] ^= 1 << 20 // else a search would end early where it does so at equal codes
	}
	b.SetBytes(int64(32 * n))
	b.ReportAllocs()
	read, search := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		b.StopTimer()
		read = min(read, timeOf(func() { s.Read() }))
		b.StartTimer()
		search = min(search, timeOf(func() { s.NearestEach(codes, hits) }))
	}
	for i, hit := range hits {
		if want := (Hit{(i + 1) * n / (queries + 1), 1}); hit != want {
			b.Errorf("%v, want %v", hit, want)
		}
	}
	b.ReportMetric(float64(search.Nanoseconds())/float64(n*queries), "least-ns/code/query")
	b.ReportMetric(float64(read.Nanoseconds())/float64(n), "least-ns/code-read")
}

func timeOf(run func()) time.Duration {
	begun := time.Now()
	run()
	return time.Since(begun)
}

func BenchmarkRead(b *testing.B) {
	const n = 100_000
	s := randomSet(n)
	eachKernel(func(kernel string) {
		b.Run(kernel, func(b *testing.B) {
			b.SetBytes(32 * n)
			b.ReportAllocs()
			for b.Loop() {
				s.Read()
			}
		})
	})
}

func BenchmarkWithin(b *testing.B) {
	const n = 100_000
	s := randomSet(n)
	eachKernel(func(kernel string) {
		b.Run(kernel, func(b *testing.B) {
			b.SetBytes(32 * n)
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				for range s.Within(s.At(7), 90) {
					found++
				}
			}
			if found < b.N {
				b.Errorf("%d hits in %d searches", found, b.N)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/code")
		})
	})
}
