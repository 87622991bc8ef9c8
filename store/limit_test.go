package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// flood counts n unrelated messages, and after each part of them another copy of every campaign.
func flood(t *testing.T, s *Store, w *writer, n int, campaigns [][]string) (messages int) {
	t.Helper()
	const parts = 5
	for part := range parts {
		for range n / parts {
			s.Count(traceOf(w.text(40)), from(messages))
			messages++
		}
		for i, text := range campaigns {
			ev := s.Count(traceOf(w.changed(text, 0.05)), from(messages))
			if messages++; part > 0 && (!ev.Member || ev.Copies != 3+part+1) {
				t.Fatalf("campaign %d after part %d of the flood: %+v", i, part, ev)
			}
		}
	}
	return messages
}

// TestFloodPushesOutItself: unique mail, ten times as much as there is room for, leaves live campaigns as they were.
func TestFloodPushesOutItself(t *testing.T) {
	const limit = 120
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{Limit: limit})
	w := newWriter(80)
	taught := w.text(100)
	s.Train(traceOf(taught), from(1_000_000), Spam)
	var campaigns [][]string
	for i := range 20 {
		campaigns = append(campaigns, w.text(100))
		for n := range 3 {
			s.Count(traceOf(w.changed(campaigns[i], 0.05)), from(100_000+3*i+n))
		}
	}
	flood(t, s, w, 10*limit, campaigns)
	for range 3 { // and as the file has it
		st := s.Stats()
		if st.Clusters > limit || st.Campaigns < len(campaigns) || st.Messages > messagesPerCluster*limit {
			t.Fatalf("over the limit of %d: %+v", limit, st)
		}
		for i, text := range append(campaigns, taught) {
			if ev := s.Judge(traceOf(text), from(200_000)); !ev.Member {
				t.Fatalf("campaign %d is gone: %+v", i, ev)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, Options{Limit: limit})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStaleCampaignsGoFirst: where there are campaigns alone, those go that are small and were not seen of late.
func TestStaleCampaignsGoFirst(t *testing.T) {
	s := open(t, "", Options{Key: []byte("a key for tests"), Limit: 40})
	w := newWriter(81)
	twice := func(text []string, copies, at int) {
		for n := range copies {
			x := from(1000*at + n)
			x.Time = start.Add(time.Duration(at) * time.Minute)
			s.Count(traceOf(text), x)
		}
	}
	large := w.text(60)
	twice(large, manyCopies, 0)
	live := w.text(60)
	for at := 1; at < 400; at++ {
		twice(w.text(60), 2, at)
		x := from(1000*at + 500)
		x.Time = start.Add(time.Duration(at) * time.Minute)
		if ev := s.Count(traceOf(live), x); at > 1 && ev.Copies != at {
			t.Fatalf("minute %d: the live campaign is gone: %+v", at, ev)
		}
	}
	if ev := s.Judge(traceOf(large), from(1_000_000)); !ev.Member {
		t.Error("the large campaign went before the small ones")
	}
	if n := s.Stats().Clusters; n > 80 {
		t.Errorf("%d clusters", n)
	}
}

// TestLimitLowered: a file with more than the limit shrinks with the mail, by so many steps a message.
func TestLimitLowered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{})
	w := newWriter(82)
	for i := range 500 {
		s.Count(traceOf(w.text(40)), from(i))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{Limit: 100})
	defer s.Close()
	for i := range 10 {
		s.Count(traceOf(w.text(40)), from(1000+i))
	}
	if n := s.Stats().Clusters; n > 100 {
		t.Errorf("%d clusters are left", n)
	}
}

// BenchmarkCountAtLimit counts unrelated texts in a full store.
func BenchmarkCountAtLimit(b *testing.B) {
	s := open(b, "", Options{Key: []byte("a key for tests"), Limit: 1000})
	w := newWriter(83)
	ts := make([]*Trace, 4000)
	for i := range ts {
		ts[i] = traceOf(w.text(100))
		s.Count(ts[i], from(i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x := from(i)
		x.Message = fmt.Sprint("again ", i)
		s.Count(ts[i%len(ts)], x)
	}
}
