package store

import (
	"path/filepath"
	"testing"
)

// BenchmarkOpen opens a file of 20,000 messages, by its snapshot and by its records.
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
	for _, way := range []struct {
		name string
		few  int // from how many clusters on there is a snapshot
	}{{"snapshot", 0}, {"records", 1 << 30}} {
		s := open(b, path, Options{})
		clusters := s.Stats().Clusters
		if err := s.close(way.few); err != nil {
			b.Fatal(err)
		}
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				s := open(b, path, Options{})
				b.StopTimer()
				if err := s.close(way.few); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*clusters), "µs/cluster")
		})
	}
}
