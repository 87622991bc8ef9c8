package store

import (
	"path/filepath"
	"testing"
)

// fileMessages is how many messages the benchmarks of the file have.
const fileMessages = 5000

// aFile makes a store of unrelated messages on disk.
func aFile(b *testing.B) *Store {
	b.Helper()
	s := open(b, filepath.Join(b.TempDir(), "spamsim.db"), Options{})
	w := newWriter(98)
	for i := range fileMessages {
		s.Count(traceOf(w.text(100)), from(i))
	}
	if err := s.Sync(); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkCommit brings new clusters to the disk, a thousand at a time. MB/s is of the file as it grows.
func BenchmarkCommit(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "spamsim.db"), Options{})
	defer s.Close()
	const many = 1000
	w, n := newWriter(99), 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for range many {
			n++
			s.Count(traceOf(w.text(100)), from(n))
		}
		b.StartTimer()
		if err := s.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(s.fileSize() / int64(b.N))
	b.ReportMetric(many*float64(b.N)/b.Elapsed().Seconds(), "clusters/s")
	b.ReportMetric(float64(s.fileSize()-freeOctets(s.db.Load()))/float64(n), "file-B/message")
}

// BenchmarkCompact writes the whole file anew.
func BenchmarkCompact(b *testing.B) {
	s := aFile(b)
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Compact(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(s.fileSize())
	}
	b.ReportMetric(fileMessages*float64(b.N)/b.Elapsed().Seconds(), "clusters/s")
}
