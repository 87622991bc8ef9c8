package store

import (
	"path/filepath"
	"testing"
)

// BenchmarkOpen opens a file of 20,000 messages.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "spamsim.db")
	s := open(b, path, Options{})
	w := newWriter(44)
	for i := range 20_000 {
		s.Count(traceOf(w.text(100)), from(i))
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := open(b, path, Options{})
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
