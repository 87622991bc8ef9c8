package store

import (
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestConcurrent: counting, judging, learning, forgetting, expiry and reports at one time neither race nor lose a copy.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{Window: time.Hour})
	const workers, each = 6, 40
	campaign := traceOf(newWriter(90).text(100))
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			w := newWriter(uint64(91 + k))
			for i := range each {
				x, other := from(k*each+i), from(10_000+k*each+i)
				x.Time, other.Time = start, start
				s.Count(campaign, x)
				own := traceOf(w.text(60))
				s.Train(own, other, Ham)
				s.Judge(own, x)
				s.Forget(own, other)
				_, _ = s.Stats(), s.Calibrations()
				if err := s.Sync(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{Window: time.Hour})
	defer s.Close()
	x := from(20_000)
	x.Time = start
	if ev := s.Judge(campaign, x); ev.Copies != workers*each+1 || s.Stats().Clusters != 1 {
		t.Errorf("%+v, %+v", ev, s.Stats())
	}
	x.Time = start.Add(3 * time.Hour)
	s.Count(traceOf(newWriter(99).text(60)), x)
	if n := s.Stats(); n.Clusters != 1 || n.Messages != 1 {
		t.Errorf("after the window: %+v", n)
	}
}
