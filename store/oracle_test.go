package store

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// aStream counts n messages, of which a third are copies of one of some campaigns, changed in up to half of their words, and
// returns more of the same kind that are not counted.
func aStream(s *Store, n, more int) (ts []*Trace, xs []*Transaction) {
	w := newWriter(97)
	var campaigns [][]string
	for range 40 {
		campaigns = append(campaigns, w.text(20+w.IntN(200)))
	}
	for i := range n + more {
		words := w.text(12 + w.IntN(150))
		if i%3 == 0 {
			words = w.changed(campaigns[w.IntN(len(campaigns))], w.Float64()/2)
		}
		t, x := traceOf(words), from(i)
		if i < n {
			s.Count(t, x)
			continue
		}
		ts, xs = append(ts, t), append(xs, x)
	}
	return ts, xs
}

// TestOracleMeasuresAll: the scan finds what measuring each cluster by itself finds, best first.
func TestOracleMeasuresAll(t *testing.T) {
	s := scratchStore(t)
	ts, xs := aStream(s, 200, 40)
	var qs []*query
	for i := range ts {
		q := s.memory.query(ts[i])
		q.sender = s.hash(xs[i].Sender)
		s.memory.settle(q)
		qs = append(qs, q)
	}
	same := func(a, b match) bool { return a.handle == b.handle && a.containment == b.containment }
	all := make([][]match, len(qs))
	for i, q := range qs {
		for h := range s.memory.top {
			if s.memory.at(h).state == vacant {
				continue
			}
			if x := s.memory.measure(q, h); x.score > 0 {
				all[i] = append(all[i], x)
			}
		}
		slices.SortFunc(all[i], func(a, b match) int { return cmp.Compare(b.score, a.score) })
	}
	for _, floor := range []float64{0, s.floor(), 60} {
		for i, got := range s.memory.scan(qs, floor) {
			want := all[i]
			for len(want) > 0 && want[len(want)-1].score < floor {
				want = want[:len(want)-1]
			}
			if len(got) < len(want) || !slices.EqualFunc(got[:len(want)], want, same) || floor == 0 && len(got) > len(want) {
				t.Errorf("message %d, floor %v: %d clusters, want %d", i, floor, len(got), len(want))
			}
		}
	}
}

// TestSameVerdicts: the index leads to what decides. Of the messages of a stream, near-copies among them, at least 999 in 1,000
// get the verdict of a scan, also by those few features of each that lead to clusters in a large memory.
func TestSameVerdicts(t *testing.T) {
	s := scratchStore(t)
	ts, xs := aStream(s, 800, 400)
	sameVerdicts(t, s, ts, xs)
	s.memory.live = 1_000_000
	least := s.memory.weight(indexLimit, math.MaxFloat32)
	leading, _ := s.memory.reach()
	if n := len(s.memory.query(ts[0]).leads(nil, leading, least)); n > posted {
		t.Fatalf("%d features lead to clusters of a large memory, not %d", n, posted)
	}
	sameVerdicts(t, s, ts, xs)
	s.memory.live = 3_000_000
	sameVerdicts(t, s, ts, xs)
}

// TestReach: up to a million clusters the work is bounded alike, beyond it grows with them, up to what a message keeps.
func TestReach(t *testing.T) {
	for _, c := range []struct{ live, leading, work int }{
		{0, 48, 512}, {1_000_000, 48, 512}, {1_500_000, 72, 768}, {2_000_000, 96, 1024}, {6_000_000, 128, 3072}, {10_000_000, 128, 4096},
	} {
		m := memory{live: c.live}
		if leading, work := m.reach(); leading != c.leading || work != c.work {
			t.Errorf("of %d clusters: %d and %d, want %d and %d", c.live, leading, work, c.leading, c.work)
		}
	}
}

// TestAfford: a message whose words very many hold is judged by the rarest and weightiest of them, at a bounded price.
func TestAfford(t *testing.T) {
	all := []holders{{list: 1, n: 200, w: 3}, {list: 2, n: 100, w: 1}, {list: 3, n: 100, w: 2}, {list: 4, n: 20, w: 1}}
	for most, want := range map[int][]uint32{-1: nil, 19: nil, 20: {4}, 119: {4}, 120: {4, 3}, 219: {4, 3}, 220: {4, 3, 2}, 420: {4, 3, 2, 1}} {
		var got []uint32
		for _, l := range afford(slices.Clone(all), most) {
			got = append(got, l.list)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d clusters: lists %v, want %v", most, got, want)
		}
	}
}

func sameVerdicts(t *testing.T, s *Store, ts []*Trace, xs []*Transaction) {
	t.Helper()
	near := func(ev *Evidence) bool { return ev.Member && ev.Sigma >= 3 }
	bulk := func(ev *Evidence) bool { return near(ev) && ev.Copies >= 5 }
	same, bulks := 0, 0
	for i, want := range s.JudgeAll(ts, xs) {
		got := s.Judge(ts[i], xs[i])
		if bulk(&want) {
			bulks++
		}
		if got.Abstain == want.Abstain && near(&got) == near(&want) && bulk(&got) == bulk(&want) {
			same++
		} else {
			t.Logf("message %d: %+v, by the scan %+v", i, got, want)
		}
	}
	if same*1000 < len(ts)*999 {
		t.Errorf("%d of %d verdicts are the same", same, len(ts))
	}
	if bulks < len(ts)/10 || bulks > len(ts)/2 {
		t.Errorf("%d of %d messages are bulk", bulks, len(ts))
	}
}
