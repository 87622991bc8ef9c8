package store

import "testing"

// BenchmarkCount counts 2,000 unrelated texts, first as clusters of their own and from then on as copies.
func BenchmarkCount(b *testing.B) {
	s := scratchStore(b)
	w := newWriter(60)
	ts := make([]*Trace, 2000)
	for i := range ts {
		ts[i] = traceOf(w.text(100))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Count(ts[i%len(ts)], from(i))
	}
}
