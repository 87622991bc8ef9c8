package store

import "testing"

// foundOf says of how many messages the clusters that they are copies of are found, and of how many a scan of all finds them.
func foundOf(s *Store, ts []*Trace) (byIndex, byScan int) {
	xs := make([]*Transaction, len(ts))
	for i := range xs {
		xs[i] = from(1_000_000 + i)
	}
	for i, want := range s.JudgeAll(ts, xs) {
		if want.Member {
			byScan++
			if got := s.Judge(ts[i], xs[i]); got.Member && got.Cluster == want.Cluster {
				byIndex++
			}
		}
	}
	return byIndex, byScan
}

// TestFoundByLittle: a copy is found of which half the words are others, though what leads to it is less than a copy has.
func TestFoundByLittle(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(52)
	var ts []*Trace
	for i := range 200 {
		text := w.text(60 + w.IntN(100))
		s.Count(traceOf(text), from(i))
		ts = append(ts, traceOf(w.changed(text, .4+.3*w.Float64())))
	}
	if by, of := foundOf(s, ts); of < 150 || by < of-2 {
		t.Errorf("%d of %d are found", by, of)
	}
}

// TestFoundBehindOthers: a copy is found of a message that nothing resembled, to which few features lead, where more of what it
// quotes leads to larger clusters.
func TestFoundBehindOthers(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(53)
	var quotes []string
	n := 0
	for range 6 {
		text := w.text(60)
		quotes = append(quotes, text[10:26]...)
		for range 4 {
			s.Count(traceOf(text), from(n))
			n++
		}
	}
	var ts []*Trace
	for range 40 {
		text := w.text(100)
		s.Count(traceOf(text), from(n))
		n++
		ts = append(ts, traceOf(append(w.changed(text, .4), quotes...)))
	}
	if by, of := foundOf(s, ts); of < 35 || by < of-2 {
		t.Errorf("%d of %d are found", by, of)
	}
}

// TestCommonFeaturesLead: a message of nothing but what very many hold still leads to some of them.
func TestCommonFeaturesLead(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(51)
	phrase := w.text(30)
	for n := range 60 {
		text := append(w.text(50), phrase...)
		s.Count(traceOf(text), from(2*n))
		s.Count(traceOf(text), from(2*n+1))
	}
	m := s.memory
	q := m.query(traceOf(phrase))
	common := q.features[:0]
	for _, f := range q.features {
		if _, n := m.post.find(f.id); n > rareHolders {
			common = append(common, f)
		}
	}
	if q.features, q.text = common, len(common); q.text < 5 {
		t.Fatalf("%d features are common: nothing is shown", q.text)
	}
	q.tabulate()
	if m.matches(q); len(m.scratch.used) <= rareHolders {
		t.Errorf("%d common features lead to %d clusters", q.text, len(m.scratch.used))
	}
}
