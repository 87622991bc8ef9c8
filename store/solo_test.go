package store

import "testing"

// TestDropLeavesNothing: of clusters that are gone nothing is left in the index, in the table of handles or among those that
// have grown, though a solo keeps but a part of each feature's id.
func TestDropLeavesNothing(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(131)
	for i := range 400 {
		text := w.text(20 + i%150)
		s.Count(traceOf(text), from(2*i))
		if i%5 == 0 {
			s.Count(traceOf(w.changed(text, 0.1)), from(2*i+1))
		}
	}
	m := &s.memory
	if m.live < 300 || entries(&m.post) < 10_000 {
		t.Fatalf("%d clusters and %d features in the index", m.live, entries(&m.post))
	}
	for h := range m.top {
		if m.at(h).state != vacant {
			s.drop(h)
		}
	}
	registered := 0
	for i := range m.handles {
		registered += m.handles[i].used
	}
	if n := entries(&m.post); n+m.live+m.many+registered+len(s.unwritten.records) > 0 || len(m.vacated) != len(m.grown) {
		t.Errorf("%d features, %d clusters, %d large ones, %d handles and %d records are left; %d of %d grown are vacant",
			n, m.live, m.many, registered, len(s.unwritten.records), len(m.vacated), len(m.grown))
	}
}

// entries is how many features the index has.
func entries(p *postings) (n int) {
	for i := range p.shards {
		n += int(p.shards[i].used)
	}
	return n
}

// TestNearIsRemoved: a feature of which the lowest bits are not known is found wherever these let it lie, in small shards and in
// large ones.
func TestNearIsRemoved(t *testing.T) {
	for _, n := range []uint32{2, 20, 200, 1 << tagBits / 4, 1 << tagBits / 2} {
		var p postings
		for i := range n {
			p.add(1<<tagBits/n*i, i)
		}
		for i := range n {
			p.removeNear(1<<tagBits/n*i>>nearBits<<nearBits, i, nearBits)
		}
		if left := entries(&p); left > 0 {
			t.Errorf("%d of %d features are left", left, n)
		}
	}
}

// TestLeadIsExact: features lead to a cluster as often as it has them, whatever it had before.
func TestLeadIsExact(t *testing.T) {
	sets := [][]element{{{id: 2}, {id: 2}, {id: 4}}, {{id: 2}, {id: 2}, {id: 6}}, {{id: 2}, {id: 4}}, {{id: 4}, {id: 4}}, {}}
	for _, was := range sets {
		for _, is := range sets {
			var m memory
			m.lead(7, nil, was)
			m.lead(7, was, is)
			want := map[uint32]int{}
			for _, e := range is {
				want[e.id]++
			}
			for _, id := range []uint32{2, 4, 6} {
				if got := len(m.post.holders(id)); got != want[id] {
					t.Errorf("from %v to %v: feature %d leads there %d times", was, is, id, got)
				}
			}
		}
	}
}
