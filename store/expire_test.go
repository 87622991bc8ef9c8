package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// TestExpiryInSlices: no message waits for more than a slice of the expiry, and all that is old goes in the end.
func TestExpiryInSlices(t *testing.T) {
	const old = 3000
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{Window: time.Hour})
	w := newWriter(95)
	s.mu.Lock()
	for i := range uint64(old) {
		c := &cluster{seq: i + 1, copies: 1, last: start.Unix(), elements: pack(nil, []element{{uint32(i) << 1, 1, 1, 9}})}
		s.begin(c)
		s.remember(mix(i), &delivery{seq: c.seq, at: start.Unix()})
		s.moved[old+i] = c.seq
	}
	s.lastSeq = 2 * old
	s.mu.Unlock()
	slices, before := 0, old
	for ; before > 0 || len(s.messages) > slices || len(s.moved) > 0; slices++ {
		if slices > old {
			t.Fatalf("%d old clusters, %d messages, %d moved never go", before, len(s.messages), len(s.moved))
		}
		x := from(slices)
		x.Time = start.Add(2 * time.Hour)
		s.Count(traceOf(w.text(20)), x)
		left := 0
		for seq := range uint64(old) {
			if _, ok := s.memory.handle(seq + 1); ok {
				left++
			}
		}
		if gone := before - left; gone > lockedFor/dropCost {
			t.Fatalf("message %d waited for %d clusters to go", slices, gone)
		}
		before = left
	}
	if slices < old/(lockedFor/dropCost) {
		t.Errorf("all went in %d slices", slices)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCloseAmidExpiry: what is left of a sweep goes with the next one.
func TestCloseAmidExpiry(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "spamsim.db"), Options{Window: time.Hour})
	w := newWriter(96)
	for i := range 200 {
		s.Count(traceOf(w.text(20)), from(i))
	}
	x := from(1000)
	x.Time = start.Add(24 * time.Hour)
	s.Count(traceOf(w.text(20)), x)
	if s.sweep.next == nil || s.Stats().Clusters < 100 {
		t.Fatal("the sweep is over at once")
	}
	path := s.path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{Window: time.Hour})
	defer s.Close()
	for i := range 10 {
		x := from(1001 + i)
		x.Time = start.Add(24 * time.Hour)
		s.Count(traceOf(w.text(20)), x)
	}
	if n := s.Stats().Clusters; n != 11 {
		t.Errorf("%d clusters are left", n)
	}
}

// BenchmarkExpiry lets 100,000 clusters expire amid mail, and says how long the message waited that waited longest.
func BenchmarkExpiry(b *testing.B) {
	longest := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		s := open(b, filepath.Join(b.TempDir(), "spamsim.db"), Options{Window: time.Hour})
		w := newWriter(97)
		for i := range 100_000 {
			x := from(i)
			x.Time = start
			s.Count(traceOf(w.text(40)), x)
		}
		if n := s.Stats().Clusters; n < 99_000 {
			b.Fatalf("%d clusters", n)
		}
		late := from(1_000_000)
		late.Time = start.Add(48 * time.Hour)
		b.StartTimer()
		for n := 0; s.Stats().Clusters > n; n++ {
			x := *late
			x.Message = fmt.Sprint("late ", n)
			t := traceOf(w.text(40))
			before := time.Now()
			s.Count(t, &x)
			longest = max(longest, time.Since(before))
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest")
}
