package store

import (
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestTrainAndForget(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(9)
	text := w.text(100)
	first := s.Train(traceOf(text), from(1), Spam)
	if !first.Done || first.Cluster == "" {
		t.Fatalf("train: %+v", first)
	}
	if again := s.Train(traceOf(text), from(1), Spam); again.Done || again.Reason != "known" || again.Cluster != first.Cluster {
		t.Errorf("the same again: %+v", again)
	}
	if other := s.Train(traceOf(text), from(1), Ham); !other.Done {
		t.Errorf("another label: %+v", other)
	}
	if ev := s.Judge(traceOf(text), from(2)); ev.Label != Ham || ev.Copies != 2 {
		t.Errorf("judged: %+v", ev)
	}
	if short := s.Train(traceOf(text[:3]), from(3), Spam); short.Done || short.Reason != "short" {
		t.Errorf("short: %+v", short)
	}
	if gone := s.Forget(traceOf(text), from(1)); !gone.Done || gone.Cluster != first.Cluster {
		t.Errorf("forget: %+v", gone)
	}
	if twice := s.Forget(traceOf(text), from(1)); twice.Done || twice.Reason != "unknown" {
		t.Errorf("forget twice: %+v", twice)
	}
	if ev := s.Judge(traceOf(text), from(2)); ev.Member || s.Stats() != (Stats{}) {
		t.Errorf("after forgetting: %+v, %+v", ev, s.Stats())
	}
}

func TestForgetTakesCountsBack(t *testing.T) {
	s := scratchStore(t)
	before, text := campaign(t, s, 5)
	s.Count(traceOf(text), from(200))
	if out := s.Forget(traceOf(text), from(200)); !out.Done || out.Cluster != before.Cluster {
		t.Fatalf("%+v", out)
	}
	ev := s.Judge(traceOf(text), from(201))
	if ev.Copies != 6 || ev.Senders.N != 6 || ev.Nets.N != 6 || ev.Rcpts.N != 6 {
		t.Errorf("the sixth copy after the sixth was forgotten: %+v", ev)
	}
}

func TestExpiry(t *testing.T) {
	s := open(t, "", Options{Key: []byte("k"), Window: 24 * time.Hour})
	_, text := campaign(t, s, 3)
	w := newWriter(12)
	late := func(n int, d time.Duration) *Transaction {
		x := from(n)
		x.Time = start.Add(d)
		return x
	}
	s.Count(traceOf(w.text(80)), late(300, 23*time.Hour))
	if ev := s.Judge(traceOf(text), late(301, 23*time.Hour)); ev.Copies != 4 {
		t.Errorf("within the window: %+v", ev)
	}
	s.Count(traceOf(w.text(80)), late(302, 22*time.Hour)) // a clock that was put back
	s.Count(traceOf(w.text(80)), late(303, 25*time.Hour))
	if ev := s.Judge(traceOf(text), late(304, 25*time.Hour)); ev.Member {
		t.Errorf("after the window: %+v", ev)
	}
	if st := s.Stats(); st.Clusters != 3 || st.Messages != 3 {
		t.Errorf("left: %+v", st)
	}
}

func TestMergedIDsLead(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(14)
	left, right := w.text(100), w.text(100)
	a := s.Train(traceOf(left), from(1), None)
	b := s.Train(traceOf(right), from(2), None)
	if a.Cluster == b.Cluster {
		t.Fatal("unrelated texts share a cluster")
	}
	bridge := s.Count(traceOf(append(append([]string{}, left...), right...)), from(3))
	if bridge.Copies != 3 || bridge.Senders.N != 3 {
		t.Fatalf("bridge: %+v", bridge)
	}
	if ev := s.Count(traceOf(left), from(1)); !ev.Known || ev.Copies != 3 {
		t.Errorf("first: %+v", ev)
	}
	if ev := s.Count(traceOf(right), from(2)); !ev.Known || ev.Copies != 3 {
		t.Errorf("second: %+v", ev)
	}
	if st := s.Stats(); st.Clusters != 1 {
		t.Errorf("%+v", st)
	}
}

// TestForgottenFeaturesCountNoMore: what only a forgotten message had of a cluster resembles nothing any more, also after the
// records were read anew.
func TestForgottenFeaturesCountNoMore(t *testing.T) {
	w := newWriter(31)
	common, rest := w.text(100), w.text(100)
	both := append(slices.Clone(common), rest...)
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{Key: []byte("a key for tests")})
	s.Count(traceOf(common), from(1))
	before := s.Judge(traceOf(common), from(50))
	s.Count(traceOf(both), from(2))
	if ev := s.Judge(traceOf(rest), from(50)); !ev.Member || ev.Copies != 3 {
		t.Fatalf("nothing is shown: %+v", ev)
	}
	s.Forget(traceOf(both), from(2))
	for _, when := range []string{"at once", "read anew"} {
		if ev := s.Judge(traceOf(rest), from(50)); ev.Member {
			t.Errorf("%s: what is forgotten: %+v", when, ev)
		}
		if ev := s.Judge(traceOf(common), from(50)); ev.Copies != 2 || ev.InCore < before.InCore-0.01 || ev.Score < 0.99*before.Score {
			t.Errorf("%s: what is left: %+v, before %+v", when, ev, before)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path, Options{})
	}
	s.Close()
}
