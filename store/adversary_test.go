package store

import (
	"fmt"
	"testing"
	"time"
)

// A flood of messages that resemble nothing neither joins clusters nor hides a campaign that comes after it.
func TestFloodOfUniqueMessages(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 2_000
	}
	s := scratchStore(t)
	w := newWriter(50)
	for i := range n {
		if ev := s.Count(traceOf(w.text(60)), from(i)); ev.Copies >= 5 && ev.Sigma >= 3 {
			t.Fatalf("unrelated message %d: %+v", i, ev)
		}
	}
	text := w.text(120)
	var last Evidence
	for i := range 5 {
		last = s.Count(traceOf(w.changed(text, 0.05)), from(n+i))
	}
	if last.Copies != 5 || last.Sigma < 3 {
		t.Errorf("fifth copy after the flood: %+v", last)
	}
	if st := s.Stats(); st.Messages != n+5 {
		t.Errorf("%+v", st)
	}
}

// A clock that jumps back and on again loses no cluster that is within the window, and keeps expiring.
func TestClockJumpsBack(t *testing.T) {
	s := open(t, "", Options{Key: []byte("k"), Window: 24 * time.Hour})
	w := newWriter(51)
	text := w.text(100)
	at := func(n int, d time.Duration) *Transaction {
		x := from(n)
		x.Time = start.Add(d)
		return x
	}
	s.Count(traceOf(text), at(1, 10*time.Hour))
	if ev := s.Count(traceOf(text), at(2, 9*time.Hour)); ev.Copies != 2 || !ev.First.Equal(start.Add(10*time.Hour)) || !ev.Last.Equal(start.Add(10*time.Hour)) {
		t.Errorf("an hour back: %+v", ev)
	}
	s.Count(traceOf(w.text(80)), at(3, 33*time.Hour))
	if ev := s.Judge(traceOf(text), at(4, 33*time.Hour)); ev.Copies != 3 {
		t.Errorf("last copy 23 hours ago: %+v", ev)
	}
	s.Count(traceOf(w.text(80)), at(5, 35*time.Hour))
	if ev := s.Judge(traceOf(text), at(6, 35*time.Hour)); ev.Member {
		t.Errorf("last copy 25 hours ago: %+v", ev)
	}
}

// What was labelled outlives the window: nobody teaches a thing once a week.
func TestLabelledClustersStay(t *testing.T) {
	s := open(t, "", Options{Key: []byte("k"), Window: time.Hour})
	w := newWriter(52)
	text := w.text(100)
	s.Train(traceOf(text), from(1), Ham)
	late := from(2)
	late.Time = start.Add(1000 * time.Hour)
	s.Count(traceOf(w.text(80)), late)
	other := *late
	other.Message = "another"
	if ev := s.Judge(traceOf(text), &other); ev.Label != Ham || ev.Copies != 2 {
		t.Errorf("%+v", ev)
	}
}

// A closed store says so, and its counters still answer.
func TestSyncAfterClose(t *testing.T) {
	s := open(t, t.TempDir()+"/spamsim.db", Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err != ErrClosed {
		t.Errorf("%v", err)
	}
}

// Ids of clusters do not collide while their numbers do not.
func TestIDsAreDistinct(t *testing.T) {
	s := scratchStore(t)
	seen := map[string]uint64{}
	for seq := range uint64(100_000) {
		id := s.id(seq)
		if was, ok := seen[id]; ok || len(id) != 8 {
			t.Fatalf("%d and %d are both %q", was, seq, id)
		}
		seen[id] = seq
	}
}

// Counts, merges and forgetting of many messages survive a file, with the ids of clusters that were merged away.
func TestMergedReopen(t *testing.T) {
	path := t.TempDir() + "/spamsim.db"
	s := open(t, path, Options{})
	w := newWriter(54)
	left, right := w.text(100), w.text(100)
	s.Count(traceOf(left), from(1))
	s.Count(traceOf(right), from(2))
	s.Count(traceOf(append(append([]string{}, left...), right...)), from(3))
	gone := w.text(90)
	s.Count(traceOf(gone), from(4))
	s.Forget(traceOf(gone), from(4))
	before := s.Stats()
	ids := [2]string{}
	for i, text := range [][]string{left, right} {
		ids[i] = s.Judge(traceOf(text), from(i+1)).Cluster
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	if after := s.Stats(); fmt.Sprint(after.Clusters, after.Campaigns, after.Messages) != fmt.Sprint(before.Clusters, before.Campaigns, before.Messages) {
		t.Errorf("%+v became %+v", before, after)
	}
	for i, text := range [][]string{left, right} {
		if ev := s.Judge(traceOf(text), from(i+1)); !ev.Known || ev.Cluster != ids[i] || ev.Copies != 3 {
			t.Errorf("text %d: %+v, was in %s", i, ev, ids[i])
		}
	}
	if ev := s.Judge(traceOf(gone), from(4)); ev.Known || ev.Member {
		t.Errorf("what was forgotten is back: %+v", ev)
	}
}
