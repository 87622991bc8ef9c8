package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// Entries of another node that each begin a cluster, of texts of 60 words.
func BenchmarkApplyNewClusters(b *testing.B) {
	const n = 2000
	from, err := Open("", Options{Key: []byte("k")})
	if err != nil {
		b.Fatal(err)
	}
	share, err := from.Share("from", nil)
	if err != nil {
		b.Fatal(err)
	}
	w := newWriter(1)
	for i := range n {
		from.Count(traceOf(w.text(60)), &Transaction{Message: fmt.Sprint(i), Sender: fmt.Sprint(i), Time: time.Now()})
	}
	entries := share.Changes(2 * n)
	octets := 0
	for _, e := range entries {
		octets += len(e.Value)
	}
	for b.Loop() {
		b.StopTimer()
		to := open(b, filepath.Join(b.TempDir(), "db"), Options{Key: []byte("k")})
		other, err := to.Share("to", nil)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		other.Apply(entries, false)
		b.StopTimer()
		to.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/entry")
	b.ReportMetric(float64(octets)/float64(len(entries)), "octets/entry")
}
