package store

import (
	"fmt"
	"path/filepath"
	"syscall"
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
	apply, settle := time.Duration(0), time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		to := open(b, filepath.Join(b.TempDir(), "db"), Options{Key: []byte("k")})
		other, err := to.Share("to", nil)
		if err != nil {
			b.Fatal(err)
		}
		to.Count(traceOf(w.text(60)), &Transaction{Message: "own", Time: time.Now()})
		b.StartTimer()
		other.x.node = 0 // it is the one to look for those that are the same
		at := cpu(b)
		other.Apply(entries, false)
		applied := cpu(b)
		for other.Settle(100) > 0 {
		}
		apply, settle = apply+applied-at, settle+cpu(b)-applied
		b.StopTimer()
		to.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(apply.Nanoseconds())/float64(b.N*len(entries)), "cpu-ns/apply")
	b.ReportMetric(float64(settle.Nanoseconds())/float64(b.N*len(entries)), "cpu-ns/settle")
	b.ReportMetric(float64(octets)/float64(len(entries)), "octets/entry")
}

// cpu is the processor time that this process has taken, commits and all: a busy machine does not change it much.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
