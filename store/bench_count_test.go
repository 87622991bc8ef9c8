package store

import "testing"

// BenchmarkCount counts messages that resemble nothing into a store that grows with them.
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
